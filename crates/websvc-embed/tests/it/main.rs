//! Tests of the encoders with tiny models, see `make_models.py`.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use websvc_embed::SentenceEncoder;

const MODELS: [&str; 3] = ["bert-mean", "bert-first", "static"];

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

#[test]
fn vectors_are_those_of_the_reference() {
    for name in MODELS {
        let encoder = SentenceEncoder::open(&dir(name)).unwrap();
        let expected: Vec<Value> =
            serde_json::from_slice(&fs::read(dir(name).join("expected.json")).unwrap()).unwrap();
        assert!(expected.len() > 5);
        for case in &expected {
            let text = case["text"].as_str().unwrap();
            let vector: Vec<f32> = case["vector"]
                .as_array()
                .unwrap()
                .iter()
                .map(|value| value.as_f64().unwrap() as f32)
                .collect();
            let found = encoder.encode(text);
            assert_eq!((found.len(), vector.len()), (encoder.dimensions(), encoder.dimensions()));
            let worst = found.iter().zip(&vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{name}, {text:?}: {worst}\n{found:?}\n{vector:?}");
        }
    }
}

#[test]
fn models_have_different_fingerprints() {
    let fingerprints = MODELS.map(|name| SentenceEncoder::open(&dir(name)).unwrap().fingerprint());
    assert!(fingerprints[0] != fingerprints[1] && fingerprints[1] != fingerprints[2], "{fingerprints:?}");
    assert_eq!(fingerprints[0], SentenceEncoder::open(&dir(MODELS[0])).unwrap().fingerprint());
}

/// Copies a model, changes one of its files, and returns the error.
fn error_with(name: &str, file: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> String {
    let copy = tempfile::tempdir().unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(dir(name).join(file), copy.path().join(file)).unwrap();
    }
    let path = copy.path().join(file);
    fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
    SentenceEncoder::open(copy.path()).unwrap_err().to_string()
}

fn replaced(from: &str, to: &str) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
    move |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{from}");
        text.replace(from, to).into_bytes()
    }
}

#[test]
fn unsupported_and_damaged_models_are_errors_with_the_file_and_the_reason() {
    let config = |from: &str, to: &str| error_with("bert-mean", "config.json", replaced(from, to));
    for (error, expected) in [
        (config("\"bert\"", "\"mpnet\""), "model_type is \"mpnet\": only bert and model2vec are supported"),
        (config("\"gelu\"", "\"relu\""), "hidden_act is \"relu\""),
        (config("\"num_attention_heads\": 4", "\"num_attention_heads\": 0"), "num_attention_heads is 0"),
        (config("\"num_attention_heads\": 4", "\"num_attention_heads\": 5"), "not a multiple"),
        (config("\"hidden_size\": 16", "\"hidden_size\": 20"), "does not fit config.json"),
        (config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"), "encoder.layer.2"),
        (error_with("bert-mean", "config.json", |_| b"{".to_vec()), "EOF"),
        (
            error_with("bert-mean", "tokenizer.json", replaced("\"WordPiece\"", "\"Unigram\"")),
            "only WordPiece",
        ),
        (error_with("bert-mean", "tokenizer.json", replaced("\"[CLS]\"", "\"[CLX]\"")), "[CLS] is missing"),
        (error_with("bert-mean", "model.safetensors", |bytes| bytes[..4_000].to_vec()), "outside the file"),
        (error_with("bert-mean", "model.safetensors", |_| vec![0xff; 64]), "its header has"),
        (error_with("bert-mean", "model.safetensors", |_| b"abc".to_vec()), "model.safetensors: "),
        (error_with("static", "tokenizer.json", replaced("\"tea\": 8", "\"tea\": 800")), "have no vectors"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let missing = SentenceEncoder::open(Path::new("missing")).unwrap_err().to_string();
    assert!(missing.starts_with("missing/config.json: "), "{missing}");
}
