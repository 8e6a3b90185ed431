#!/usr/bin/env python3
"""Makes the tiny models of the tests, with random numbers, and the vectors that they have for some texts.

Needs numpy, safetensors and tokenizers. The forward passes follow the papers of BERT and the documentation of model2vec,
with exact functions in double precision, and the tokens are those of the library of Hugging Face.
"""

import json
import math
import pathlib

import numpy
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent / "models"
RANDOM = numpy.random.default_rng(7)
SIZE, LAYERS, HEADS, INNER, POSITIONS, MAX_TOKENS = 16, 2, 4, 32, 24, 20
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cafe tea green black ##s ##ing drink pour of and , . ! ? - ' ( ) 1 2 3 ##1 ##2 ##3 "
    "uber ##er un ##known ß straße 茶 绿 otter river beaver « » …"
).split()
TEXTS = [
    "The green tea.",
    "Drinking TEAS, and a café!",
    "Über-straße (123) «otters»…",
    "绿茶 and unknown xyzzy",
    "soft\u00adhyphen zero\u200bwidth \ufffd tab\ttea",
    "",
    "tea " * 40,
    "a" * 150 + " tea",
]


def tokenizer(special):
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    found = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    found.normalizer = normalizers.BertNormalizer(lowercase=True)
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
        found.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    return found


def random(*shape):
    return (RANDOM.standard_normal(shape) * 0.4).astype(numpy.float32)


def bert_tensors(prefix):
    names = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (POSITIONS, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "embeddings.LayerNorm.weight": (SIZE,),
        "embeddings.LayerNorm.bias": (SIZE,),
    }
    for layer in range(LAYERS):
        parts = {
            "attention.self.query": (SIZE, SIZE),
            "attention.self.key": (SIZE, SIZE),
            "attention.self.value": (SIZE, SIZE),
            "attention.output.dense": (SIZE, SIZE),
            "intermediate.dense": (INNER, SIZE),
            "output.dense": (SIZE, INNER),
        }
        for part, shape in parts.items():
            names[f"encoder.layer.{layer}.{part}.weight"] = shape
            names[f"encoder.layer.{layer}.{part}.bias"] = shape[:1]
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            names[f"encoder.layer.{layer}.{part}.weight"] = (SIZE,)
            names[f"encoder.layer.{layer}.{part}.bias"] = (SIZE,)
    return {prefix + name: random(*shape) for name, shape in names.items()}


def bert(tensors, ids, first_only):
    def get(name):
        return tensors[name].astype(numpy.float64)

    def linear(x, name):
        return x @ get(name + ".weight").T + get(name + ".bias")

    def norm(x, name):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / numpy.sqrt(variance + 1e-12) * get(name + ".weight") + get(name + ".bias")

    erf = numpy.vectorize(math.erf)
    x = get("embeddings.word_embeddings.weight")[ids]
    x = x + get("embeddings.position_embeddings.weight")[: len(ids)] + get("embeddings.token_type_embeddings.weight")[0]
    x = norm(x, "embeddings.LayerNorm")
    width = SIZE // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        query, key, value = (linear(x, name + "attention.self." + part) for part in ("query", "key", "value"))
        contexts = []
        for head in range(HEADS):
            columns = slice(head * width, (head + 1) * width)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(width)
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            contexts.append(scores / scores.sum(-1, keepdims=True) @ value[:, columns])
        attended = linear(numpy.concatenate(contexts, -1), name + "attention.output.dense")
        x = norm(x + attended, name + "attention.output.LayerNorm")
        inner = linear(x, name + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + linear(inner, name + "output.dense"), name + "output.LayerNorm")
    pooled = x[0] if first_only else x.mean(0)
    return (pooled / numpy.linalg.norm(pooled)).tolist()


def write(name, config, tensors, vectors, special, files=()):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in [("config.json", config), *files]:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps(content) + "\n")
    tokenizer(special).save(str(folder / "tokenizer.json"))
    save_file(tensors, folder / "model.safetensors")
    expected = [{"text": text, "vector": vector} for text, vector in zip(TEXTS, vectors)]
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


def make_bert(name, prefix, first_only):
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": SIZE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS,
        "layer_norm_eps": 1e-12,
    }
    tensors = bert_tensors(prefix)
    encoder = tokenizer(True)
    encoder.enable_truncation(MAX_TOKENS)
    plain = {key.removeprefix(prefix): value for key, value in tensors.items()}
    vectors = [bert(plain, encoder.encode(text).ids, first_only) for text in TEXTS]
    pooling = {"pooling_mode_cls_token": first_only, "pooling_mode_mean_tokens": not first_only}
    files = [("1_Pooling/config.json", pooling), ("sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})]
    write(name, config, tensors, vectors, True, files)


def make_static():
    rows = 12
    tensors = {
        "embeddings": random(rows, 8).astype(numpy.float16),
        "mapping": RANDOM.integers(0, rows, len(WORDS)).astype(numpy.int64),
        "weights": numpy.abs(random(len(WORDS))),
    }
    unknown = WORDS.index("[UNK]")
    vectors = []
    for text in TEXTS:
        ids = [number for number in tokenizer(False).encode(text).ids if number != unknown]
        parts = [tensors["weights"][i] * tensors["embeddings"][tensors["mapping"][i]].astype(numpy.float64) for i in ids]
        total = numpy.sum(parts, 0) if parts else numpy.zeros(8)
        length = numpy.linalg.norm(total)
        vectors.append((total / length if length else total).tolist())
    write("static", {"model_type": "model2vec", "normalize": True}, tensors, vectors, False)


make_bert("bert-mean", "", False)
make_bert("bert-first", "bert.", True)
make_static()
