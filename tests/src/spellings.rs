//! What is called valid starts its tool, is read by it, and is the value that the text spells; what is refused never
//! starts it. For every type of number and text, in every place that a type can have one.

mod modes;
mod shapes;

use std::sync::{Arc, Mutex, PoisonError};

use proptest::prelude::*;
use serde_json::json;
use tinyagents::prelude::*;

use modes::{Came, Counts, Modes, must_be_read};
use shapes::{Borrowed, Keyed, Spelt};

/// Where `@` stands for the value, and where the body sees it.
const PLACES: [(&str, &str); 10] = [
    (r#"{"plain": @}"#, "/plain"),
    (r#"{"places": {"option": @}}"#, "/places/option"),
    (r#"{"places": {"list": [@]}}"#, "/places/list/0"),
    (r#"{"places": {"map": {"a/b": @}}}"#, "/places/map/a~1b"),
    (r#"{"places": {"pair": [true, @]}}"#, "/places/pair/1"),
    (r#"{"places": {"kind": {"Named": {"field": @}}}}"#, "/places/kind/Named/field"),
    (r#"{"places": {"kind": {"Alone": @}}}"#, "/places/kind/Alone"),
    (r#"{"places": {"untagged": {"only": @}}}"#, "/places/untagged/only"),
    (r#"{"places": {"part": {"field": @}}}"#, "/places/part/field"),
    (r#"{"places": {"newtype": @}}"#, "/places/newtype"),
];

/// Every way to write something that is, or looks like, a value of some type.
const SPELT: &str = "
    0 -0 -0.0 0.0 5 5.0 5e0 50e-1 0.5e1 5.5 1e2 -5 -5.0 127 128 -128 -129 255 256 300 32767 32768 -32769
    65535 65536 2147483647 2147483648 -2147483649 4294967295 4294967296 9007199254740991
    9007199254740992 9007199254740993 9007199254740993.0 9007199254740991.0 -9007199254740993
    9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    9223372036854775807.0 18446744073709551615 18446744073709551616 1.8446744073709552e19 1e19 1e300
    1e400 -1e400 1e-400 5e-324 2.2250738585072011e-308 3.4028234663852886e38 3.4028235677973366e38
    3.5e38 0.1 123456.789e-3 true false null [5] {} 1.7976931348623157e308";

/// The same in a text, and texts that are no numbers.
fn spelt() -> Vec<String> {
    let quoted = SPELT.split_whitespace().map(|text| format!("\"{text}\""));
    let texts = [
        "",
        " 5 ",
        "+5",
        "05",
        "5.",
        ".5",
        "0x5",
        "NaN",
        "inf",
        "True",
        "None",
        "é",
        "ab",
        "\\u0061",
        "\\ud83d\\ude00",
    ];
    let texts = texts.iter().map(|text| format!("\"{text}\""));
    SPELT.split_whitespace().map(str::to_owned).chain(quoted).chain(texts).collect()
}

fn print(what: &str, counts: &Counts) {
    let Counts { read, repaired, refused } = counts;
    println!("{what}: {read} texts read, {repaired} of them repaired; {refused} refused");
    assert!(*read > 0 && *refused > 0);
}

#[test]
fn what_is_called_valid_is_read_and_is_what_the_text_says() {
    let (mut counts, mut flat) = (Counts::default(), Counts::default());
    for (number, tool) in Spelt::tools::<(), ()>().iter().enumerate() {
        let modes = Modes::of(tool);
        for (index, spelt) in spelt().iter().enumerate() {
            if modes.name.starts_with("o_") {
                let text = format!(r#"{{"outer": {{"own": true, "field": {spelt}}}}}"#);
                modes.judge(&text, spelt, "/outer/field", &mut flat);
                continue;
            }
            let turns = 1 + (number + index) % (PLACES.len() - 1);
            for (place, at) in [PLACES[0], PLACES[turns]] {
                modes.judge(&place.replace('@', spelt), spelt, at, &mut counts);
            }
        }
    }
    print("in ten places", &counts);
    print("flattened", &flat);
}

#[test]
fn a_borrowed_text_is_what_the_text_says() {
    let (mut counts, modes) = (Counts::default(), Modes::of(&(Arc::new(Borrowed) as Arc<dyn Tool<()>>)));
    for spelt in spelt() {
        modes.judge(&format!(r#"{{"text": {spelt}}}"#), &spelt, "/plain", &mut counts);
    }
    print("`&str`", &counts);
}

#[test]
fn a_key_that_is_called_valid_is_read_and_is_what_the_text_says() {
    let mut counts = Counts::default();
    let words = ["", "a", "Red", "red", "dark-green", "127.0.0.1", "::1", "007", "+7", "-", "true", " 5"];
    for tool in &Keyed::tools::<(), ()>() {
        let modes = Modes::of(tool);
        for word in SPELT.split_whitespace().chain(words) {
            let key = json!(word).to_string();
            let text = format!(r#"{{"keys": {{{key}: true}}}}"#);
            // Unlike a value, a key is spelt in one way.
            let is_canonical = word.parse::<i128>().map_or(true, |number| number.to_string() == *word);
            let must = modes.name == "k_string" || (is_canonical && must_be_read(&modes.name, word, "/keys"));
            let [off, observed, on] = [0, 1, 2].map(|mode| modes.all[mode].call(&text));
            assert_eq!((&off, &off), (&observed, &on), "{}: {text}: a key has one spelling", modes.name);
            match off {
                Came::Refused(why) => {
                    counts.refused += 1;
                    assert!(!must, "{}: {text}: {why}", modes.name);
                    assert!(why.contains("`keys"), "{}: {text}: {why}", modes.name);
                }
                Came::Read { seen, .. } => {
                    counts.read += 1;
                    let (there, _) = seen["keys"].as_object().unwrap().iter().next().unwrap();
                    let number = |text: &str| text.parse::<i128>().ok();
                    let is_same = there == word || (number(there).is_some() && number(there) == number(word));
                    assert!(is_same, "{}: {text}: {there}", modes.name);
                }
            }
        }
    }
    print("keys of maps", &counts);
}

/// A number near the end of a width, in some notation.
fn number() -> impl Strategy<Value = String> {
    let ends = [0_i128, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 53, 1 << 63, 1 << 64];
    let near = (prop::sample::select(ends.to_vec()), -2_i128..3, any::<bool>())
        .prop_map(|(end, by, minus)| if minus { -end + by } else { end + by });
    let whole = prop_oneof![near, any::<i64>().prop_map(i128::from), -1000_i128..1000];
    let fraction = prop_oneof![Just(String::new()), Just(".0".into()), Just(".000".into()), "\\.[0-9]{1,20}"];
    let power = prop_oneof![3 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,3}"];
    let number =
        (whole, fraction, power).prop_map(|(whole, fraction, power)| format!("{whole}{fraction}{power}"));
    let float = any::<f64>().prop_filter("JSON has no other", |float| float.is_finite());
    let float = float.prop_map(|float| format!("{float:e}"));
    (prop_oneof![4 => number, 1 => float], any::<bool>())
        .prop_map(|(number, quoted)| if quoted { format!("\"{number}\"") } else { number })
}

#[test]
fn any_number_that_is_called_valid_is_read_and_is_what_the_text_says() {
    let tools: Vec<_> = Spelt::tools::<(), ()>()
        .iter()
        .filter(|tool| tool.spec().name.as_str().starts_with("t_"))
        .map(Modes::of)
        .collect();
    let counts = Mutex::new(Counts::default());
    let config = ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(spelt in number(), (place, at) in prop::sample::select(PLACES.to_vec()))| {
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        for modes in &tools {
            modes.judge(&place.replace('@', &spelt), &spelt, at, &mut counts);
        }
    });
    print("at random", &counts.lock().unwrap());
}
