"""What a server answers: a chat completion, or a response. Both are read into one shape."""

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from seer_otel.errors import JudgeParse, JudgeRefused
from seer_otel.judge.manners import RESPONSES


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote."""

    text: str
    """Empty where it wrote nothing, or thought until there was no room left."""
    cut: bool
    """Whether it ended for want of room."""
    filtered: bool
    refused: bool
    input_tokens: int | None
    output_tokens: int | None

    def check(self) -> None:
        """
        Let an answer pass.

        Raises:
            JudgeRefused: It is none: a filter, or the model itself, declined.
        """
        if self.filtered:
            raise JudgeRefused("the judge's content filter declined", "content_filter")
        if self.refused:
            raise JudgeRefused("the judge declined to answer", "refusal")


def read(path: str, body: str) -> Completion:
    """
    Read what a server answered.

    Args:
        path: What was asked.
        body: The answer's body.

    Raises:
        JudgeParse: It is no such thing.
    """
    try:
        if path == RESPONSES:
            return _Response.model_validate_json(body).completion()
        return _Chat.model_validate_json(body).completion()
    except (ValidationError, IndexError):
        raise JudgeParse("the server's answer is no completion") from None


class _Part(BaseModel):
    type: str | None = None
    text: str | None = None
    refusal: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Chat(BaseModel):
    choices: list[_Choice]
    usage: _Tokens | None = None

    def completion(self) -> Completion:
        choice = self.choices[0]
        content = choice.message.content
        if isinstance(content, list):
            content = "".join(part.text or "" for part in content if part.type == "text")
        tokens = self.usage or _Tokens()
        return Completion(
            text=content or "",
            cut=choice.finish_reason == "length",
            filtered=choice.finish_reason == "content_filter",
            refused=bool(choice.message.refusal),
            input_tokens=tokens.prompt_tokens,
            output_tokens=tokens.completion_tokens,
        )


class _Output(BaseModel):
    type: str
    content: list[_Part] | None = None


class _Incomplete(BaseModel):
    reason: str | None = None


class _Response(BaseModel):
    output: list[_Output]
    incomplete_details: _Incomplete | None = None
    usage: _Tokens | None = None

    def completion(self) -> Completion:
        parts = [p for item in self.output if item.type == "message" for p in item.content or ()]
        reason = self.incomplete_details.reason if self.incomplete_details is not None else None
        tokens = self.usage or _Tokens()
        return Completion(
            text="".join(part.text or "" for part in parts if part.type == "output_text"),
            cut=reason == "max_output_tokens",
            filtered=reason == "content_filter",
            refused=any(part.refusal for part in parts),
            input_tokens=tokens.input_tokens,
            output_tokens=tokens.output_tokens,
        )
