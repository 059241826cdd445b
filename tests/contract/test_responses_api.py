"""Models that answer to `/responses` alone are asked there, once that is known."""

import json
from typing import Any

import pytest

from seer_otel.errors import JudgeError
from seer_otel.judge.openai import OpenAIJudge
from seer_otel.judge.protocol import Asked, Question, Support
from seer_otel.testing import ChatReply, ChatStub
from seer_otel.verdict import Usage

QUESTION = Question((Asked("task", "Who?", {1: "director"}),), {1: "Nolan did."})
VERDICT = json.dumps({"verdicts": [{"requirement": 1, "passages": [1], "unsure": False}]})
NOT_HERE = ChatReply(
    status=404,
    body={"error": {"message": "This model is only supported in v1/responses."}},
)


def response(*parts: dict[str, Any], **more: Any) -> ChatReply:
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": list(parts)}]
    usage = {"input_tokens": 100, "output_tokens": 10}
    return ChatReply(body={"output": output, "usage": usage, **more})


def text(content: str) -> dict[str, Any]:
    return {"type": "output_text", "text": content}


def only_responses(*replies: ChatReply) -> ChatStub:
    """A server that refuses chat completions; of its replies the last is repeated."""
    rest = list(replies)

    def answer(request: dict[str, Any]) -> ChatReply:
        if "messages" in request:
            return NOT_HERE
        return rest.pop(0) if len(rest) > 1 else rest[0]

    return ChatStub(answer)


async def asked(stub: ChatStub, times: int = 1) -> Support | JudgeError:
    judge = OpenAIJudge("m", base_url=stub.base_url)
    try:
        for _ in range(times):
            found = await judge.support(QUESTION)
    except JudgeError as error:
        return error
    finally:
        await judge.aclose()
    return found


async def test_the_other_path_is_found_out_once() -> None:
    async with only_responses(response(text(VERDICT))) as stub:
        found = await asked(stub, times=2)

    assert ["/v1/chat/completions", "/v1/responses", "/v1/responses"] == stub.targets
    assert isinstance(found, Support)
    assert ({1: (1,)}, Usage(1, 100, 10)) == (found.citations, found.usage)


async def test_the_request_says_the_same_in_other_words_and_keeps_nothing() -> None:
    async with only_responses(response(text(VERDICT))) as stub:
        await asked(stub)
    chat, request = stub.requests
    schema = chat["response_format"]["json_schema"]

    assert chat["messages"] == request["input"]
    assert {"type": "json_schema", **schema} == request["text"]["format"]
    assert chat["max_completion_tokens"] == request["max_output_tokens"]
    assert request["store"] is False
    assert not {"messages", "seed", "response_format"} & request.keys()


async def test_what_it_does_not_take_is_left_out() -> None:
    no_temperature = ChatReply(
        status=400, body={"error": {"message": "Unsupported parameter: 'temperature'"}}
    )
    no_schema = ChatReply(
        status=400, body={"error": {"message": "Invalid parameter: 'text.format'"}}
    )
    async with only_responses(no_temperature, no_schema, response(text(VERDICT))) as stub:
        found = await asked(stub)

    assert isinstance(found, Support)
    assert "temperature" not in stub.requests[-1]
    assert {"type": "json_object"} == stub.requests[-1]["text"]["format"]


@pytest.mark.parametrize(
    ("reply", "error_type"),
    [
        (response({"type": "refusal", "refusal": "I won't."}), "refusal"),
        (response(incomplete_details={"reason": "content_filter"}), "content_filter"),
        (
            response(text(VERDICT[:20]), incomplete_details={"reason": "max_output_tokens"}),
            "reply_cut",
        ),
        (ChatReply(body={"output": []}), "reply_cut"),
        (ChatReply(body={"id": "x"}), "judge_parse"),
        (ChatReply(body="not JSON"), "judge_parse"),
    ],
)
async def test_what_is_no_answer_is_a_failure(reply: ChatReply, error_type: str) -> None:
    async with only_responses(reply) as stub:
        error = await asked(stub)

    assert isinstance(error, JudgeError)
    assert error_type == error.error_type


async def test_a_cut_response_is_asked_for_with_more_room() -> None:
    cut = response(incomplete_details={"reason": "max_output_tokens"})
    async with only_responses(cut, response(text(VERDICT))) as stub:
        found = await asked(stub)

    assert isinstance(found, Support)
    assert stub.requests[-1]["max_output_tokens"] > stub.requests[-2]["max_output_tokens"]
