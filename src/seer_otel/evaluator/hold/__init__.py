"""What has been accepted, on disk: the only place where receive, work and forward meet."""
