"""What the documents say is what the code does."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
import yaml
from click import Context, Group
from pydantic import BaseModel

from seer_otel.cli.commands import seer_otel
from seer_otel.config import ENVIRONMENT, Config, load
from seer_otel.metrics import judgement
from seer_otel.sampling import point

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md", "collector-config/*.md")
    for page in REPOSITORY.glob(pattern)
)


def page(name: str) -> str:
    return (REPOSITORY / "docs" / name).read_text()


def rows(text: str) -> Iterator[list[str]]:
    """The cells of the rows of tables whose first cell is code."""
    for line in text.splitlines():
        if line.startswith("| `"):
            yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def settings(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting with its default."""
    for name, field in model.model_fields.items():
        inner = section(field.annotation)
        if inner is not None:
            yield from settings(inner, f"{prefix}{name}.")
        else:
            required = field.is_required()
            yield (
                f"{prefix}{name}",
                None if required else field.get_default(call_default_factory=True),
            )


def section(annotation: Any) -> type[BaseModel] | None:
    alternatives = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    models = (a for a in alternatives if isinstance(a, type) and issubclass(a, BaseModel))
    return next(models, None)


def test_every_setting_is_listed_with_its_default_and_variable() -> None:
    variables = {setting: variable for variable, setting in ENVIRONMENT.items()}
    table = page("configuration.md").partition("## In the application")[0]
    listed = {cells[0]: (cells[1], cells[2]) for cells in rows(table)}
    expected = {
        name: (shown(None if name == "data_dir" else default), variables.get(name, ""))
        for name, default in settings(Config)
    }

    assert expected == listed


def shown(default: Any) -> str:
    if default is None:
        return "–"
    return yaml.safe_dump(default, default_flow_style=True).strip().removesuffix("...").strip()


def test_the_configuration_shown_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "seer.yaml"
    (block,) = re.findall(r"```yaml\n(.*?)```", page("configuration.md"), re.DOTALL)
    file.write_text(block)

    assert 0.05 == load(file, {}).sample_rate


def test_the_points_of_traces_are_right() -> None:
    points = {cells[0]: float(cells[1]) for cells in rows(page("sampling.md"))}

    assert points == {trace_id: point(trace_id) for trace_id in points}
    assert 3 == len(points)


def test_every_score_of_a_judgement_is_explained() -> None:
    explained = {cells[0] for cells in rows(page("metrics.md"))}

    assert set(judgement.score([], []).absent) <= explained


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text())
    local = [target for target in targets if "://" not in target]

    assert [] == [target for target in local if not (path.parent / target).exists()]


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [REPOSITORY / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
            waiting += [(page.parent / link).resolve() for link in links if "://" not in link]

    assert [] == [str(page) for page in PAGES if page.resolve() not in reached]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_commands_shown_exist_with_their_options(path: Path) -> None:
    joined = path.read_text().replace("\\\n", " ")
    for line in re.findall(r"(?:^|`|=\S+ )seer-otel ([a-z][^`#\n]*)", joined, re.MULTILINE):
        name, *words = line.split()
        command = seer_otel.get_command(Context(seer_otel), name)

        while isinstance(command, Group) and words and not words[0].startswith("-"):
            command = command.get_command(Context(command), words.pop(0))
        assert command is not None, line
        known = {option for parameter in command.params for option in parameter.opts}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= {*known, "--help"}, line
