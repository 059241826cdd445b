"""How the embedded judge reads a query: its parts, in its own words and language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seer_otel.judge.local.requirements import MOST, enumerate_requirements


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the director of film Dune", ["the director of film Dune"]),
        ("Eiffel Tower height", ["Eiffel Tower height"]),
        ("which of these were from last year?", ["which of these were from last year"]),
        ("Is the outdoor pool heated?", ["Is the outdoor pool heated"]),
        (
            "Where is the city, which lies on the Rhine?",
            ["Where is the city, which lies on the Rhine"],
        ),
        ("HT-408多少钱", ["HT-408多少钱"]),
        ("现在下单的洗衣机，电机保几年？", ["现在下单的洗衣机，电机保几年"]),
    ],
)
def test_a_simple_question_is_one_requirement(query: str, expected: list[str]) -> None:
    assert expected == list(enumerate_requirements(query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Who directed Inception and what is their nationality?",
            [
                "Who directed Inception",
                "the nationality of the person who directed Inception",
            ],
        ),
        (
            "Who directed Inception and when was it released?",
            ["Who directed Inception", "when was it released (Inception)"],
        ),
        (
            "What status does ARM64 have, until when does 8.1 get fixes, and how big is it?",
            [
                "What status does ARM64 have",
                "until when does 8.1 get fixes",
                "how big is it (ARM64)",
            ],
        ),
        (
            "Wer hat Faust geschrieben und wann wurde er gedruckt?",
            ["Wer hat Faust geschrieben", "wann wurde er gedruckt (Faust)"],
        ),
        (
            "Quel est le prix de la navette, et quel supplément pour le chien ?",
            ["Quel est le prix de la navette", "quel supplément pour le chien"],
        ),
        (
            "Kto napisał Lalkę i kiedy ją wydano?",
            ["Kto napisał Lalkę", "kiedy ją wydano (Lalkę)"],
        ),
        (
            "¿Cuánto dinero gana el campeón en Villarlume y cuánto en Peñalbor?",
            ["Cuánto dinero gana el campeón en Villarlume", "cuánto en Peñalbor"],
        ),
        (
            "QL-60的滤芯多长时间换一回？换的时候收费吗？",
            ["QL-60的滤芯多长时间换一回", "换的时候收费吗 (QL-60)"],
        ),
        (
            "東京タワーの高さは何メートルですか、いつ建てられましたか？",
            ["東京タワーの高さは何メートルですか", "いつ建てられましたか"],
        ),
    ],
)
def test_a_compound_question_is_cut_into_its_parts(query: str, expected: list[str]) -> None:
    assert expected == list(enumerate_requirements(query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Was Alan Turing or Kurt Gödel born first?",
            ["when Alan Turing was born", "when Kurt Gödel was born"],
        ),
        (
            "Who lived longer, Edward Albee or J. M. Barrie?",
            ["when Edward Albee was born and died", "when J. M. Barrie was born and died"],
        ),
        (
            "Are the directors of August Rush and Wolf Totem from the same country?",
            [
                "the director of August Rush",
                "the director of Wolf Totem",
                "the country of the director of August Rush",
                "the country of the director of Wolf Totem",
            ],
        ),
        (
            "Which unit is quieter at night, JF-35 or JF-50?",
            ["JF-35: Which unit is quieter at night", "JF-50: Which unit is quieter at night"],
        ),
        (
            "Wo parkt man günstiger, am Dom oder am Bahnhof?",
            ["am Dom: Wo parkt man günstiger", "am Bahnhof: Wo parkt man günstiger"],
        ),
        ("上海和北京哪个更大？", ["上海: 哪个更大", "北京: 哪个更大"]),
        (
            "How does the price of green tea differ from that of black coffee?",
            ["the price of green tea", "the price of black coffee"],
        ),
        (
            "How do the fees for day parking and night parking compare?",
            ["the fees for day parking", "the fees for night parking"],
        ),
        (
            "Are gas heaters and heat pumps subsidised in the same way?",
            [
                "gas heaters: subsidised in the same way",
                "heat pumps: subsidised in the same way",
            ],
        ),
        (
            "Is the warranty longer for washing machines or for dryers?",
            ["washing machines: the warranty longer", "dryers: the warranty longer"],
        ),
    ],
)
def test_a_comparison_asks_for_each_side(query: str, expected: list[str]) -> None:
    assert expected == list(enumerate_requirements(query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "When was Alan Turing's father born?",
            ["Alan Turing's father", "When was Alan Turing's father born"],
        ),
        (
            "What is the country of the author of Dune?",
            ["the author of Dune", "What is the country of the author of Dune"],
        ),
        (
            "Who governs the state where Shringarpur is located?",
            [
                "the state where Shringarpur is located",
                "Who governs the state where Shringarpur is located",
            ],
        ),
        ("Who is the father of Alan Turing?", ["Who is the father of Alan Turing"]),
    ],
)
def test_what_a_question_hangs_on_comes_before_it(query: str, expected: list[str]) -> None:
    assert expected == list(enumerate_requirements(query))


def test_a_list_is_one_requirement_an_item() -> None:
    assert (
        "List the capitals of France",
        "List the capitals of Spain",
        "List the capitals of Italy",
    ) == enumerate_requirements("List the capitals of France, Spain and Italy")


def test_two_things_wanted_in_one_sentence_are_two_requirements() -> None:
    query = "Tell me the price of the annual pass and how long it is valid."

    assert ("the price of the annual pass", "how long it is valid") == enumerate_requirements(query)


@pytest.mark.parametrize(
    "query",
    [
        "Which years does the report cover for cash, and restricted cash at end of period?",
        "土和水元素的自然位置在哪里？",
    ],
)
def test_words_that_only_look_like_a_choice_are_none(query: str) -> None:
    assert 1 == len(enumerate_requirements(query))


def test_a_title_with_and_in_it_is_no_list() -> None:
    query = "Who is the author of Romeo and Juliet?"

    assert ("Who is the author of Romeo and Juliet",) == enumerate_requirements(query)


def test_sentences_that_tell_the_situation_are_left_out() -> None:
    query = "I have a 3-year-old son. What is free for him in your hotels at weekends?"

    assert ("What is free for him in your hotels at weekends",) == enumerate_requirements(query)


def test_the_situation_stays_where_the_question_says_too_little() -> None:
    query = "Our heating broke down last night. What now?"

    assert ("Our heating broke down last night. What now",) == enumerate_requirements(query)


@pytest.mark.parametrize(
    "query",
    [
        *("", "  ", "???", "👍", "hi", "Hello there!", "thanks!", "Thank you so much!"),
        *("good morning", "how are you?", "Danke schön!", "Guten Morgen", "merci beaucoup"),
        *("¡Hola!", "dziękuję", "Спасибо большое!", "你好！", "谢谢", "こんにちは", "감사합니다"),
    ],
)
def test_small_talk_requires_nothing(query: str) -> None:
    assert () == enumerate_requirements(query)


@pytest.mark.parametrize(
    "query", ["What day?", "hi, where is the key", "好的餐厅在哪里", "นายกคือใคร"]
)
def test_what_only_begins_like_small_talk_requires_something(query: str) -> None:
    assert enumerate_requirements(query)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "Z"]), max_size=200))
def test_any_text_has_few_requirements_without_repeats(query: str) -> None:
    found = enumerate_requirements(query)

    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    assert all(text.strip() for text in found)


@pytest.mark.parametrize(
    "query",
    [
        "Who " + "Aa Bb " * 3000 + "or",
        "12 Aa " * 3000,
        "the " * 5000 + "who",
        "what is Aa" + ", and how" * 5000,
        "(" * 20000 + "?",
        "a," * 20000 + "?",
        "Which er " * 33 + "A or B",
        "A's " * 5000,
        "?" * 20000,
    ],
)
def test_no_query_is_taken_apart_for_ever(query: str) -> None:
    assert len(enumerate_requirements(query)) <= MOST
