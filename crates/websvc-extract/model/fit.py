#!/usr/bin/env python3
"""Fits the model of main content (model.txt) to pages whose main content is known.

  cargo run --release -p websvc-extract --example blocks -- DATA/SET BLOCKS/SET.tsv        (for each set)
  fit.py DATA BLOCKS model.txt --train wcxb-dev,wcxb-test,aeb,readability,defuddle
  fit.py DATA BLOCKS model.txt --train wcxb-dev,aeb,readability,defuddle --check wcxb-test
  fit.py DATA BLOCKS model.txt --train wcxb-dev,wcxb-test,aeb,readability,defuddle --parts 5

Needs numpy and lightgbm. DATA/SET/truth.jsonl has one object per page with `id`, `url` and `text` or `markdown`. The first
form fits the model that is released. The others measure it on pages it was not fitted to: with --check, hosts that occur
in the checked sets are excluded from training; with --parts, each part of the hosts is scored by a model fitted to the
others, and no model is written. The script prints the mean F1 of words, and F1 of runs of four words as in the article set,
of the blocks that score above the threshold, before the rules of select.rs. The same input gives the same model."""
import argparse, hashlib, json, re
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlparse
import lightgbm
import numpy
from labels import labels

WORD = re.compile(r'\w+')
TREES = 400
# Splits at random thresholds (extra_trees) reduce overfitting to the few pages. The weights of pages are small numbers: a
# larger lambda_l2 would prevent the model from learning rare blocks (captions, comments).
PARAMETERS = dict(objective='cross_entropy', extra_trees=True, num_leaves=16, learning_rate=.07, min_data_in_leaf=60,
                  feature_fraction=.15, bagging_fraction=.8, bagging_freq=1, lambda_l2=.5, max_bin=63,
                  min_sum_hessian_in_leaf=1e-2, verbose=-1, seed=7, deterministic=True, force_col_wise=True, num_threads=1)

def words(text): return WORD.findall(text.lower())
class Page: pass

def load(data, blocks, name):
    plain = lambda markdown: re.sub(r'\]\([^)]*\)|[*`#|\\]', ' ', markdown)
    found = defaultdict(lambda: ([], [], []))
    for line in open(blocks / f'{name}.tsv', encoding='utf-8'):
        page, text, features, *_ = line.rstrip('\n').split('\t')
        found[page][0].append(words(text))
        found[page][1].append(text)
        found[page][2].append(numpy.array(features.split(), dtype=numpy.float32))
    for line in open(data / name / 'truth.jsonl', encoding='utf-8'):
        row = json.loads(line)
        if row['id'] not in found: continue
        page, truth = Page(), row['text'] if 'text' in row else plain(row['markdown'])
        page.set, page.host, page.truth = name, urlparse(row['url']).netloc, words(truth)
        page.exact = WORD.findall(truth)
        page.blocks, page.texts, features = found[row['id']]
        page.features, page.labels = numpy.array(features), labels(page.blocks, page.truth)
        page.sizes = numpy.array([max(len(block), 1) for block in page.blocks], dtype=float)
        # Pages have about the same weight, and long blocks less than their length: there are many more pages than long blocks.
        page.weights = page.sizes ** .75 / max(len(page.truth), 60) ** .75
        yield page

def fit(pages):
    join = lambda name: numpy.concatenate([getattr(page, name) for page in pages])
    return lightgbm.train(PARAMETERS, lightgbm.Dataset(join('features'), join('labels'), weight=join('weights')), TREES)

def threshold(scores, sizes):
    """Returns the score above which blocks are kept, as in select.rs."""
    order = numpy.argsort(-scores)
    hits, kept = numpy.cumsum((scores * sizes)[order]), numpy.cumsum(sizes[order])
    best = min(.5, max(.12, numpy.max(hits / (kept + (scores * sizes).sum()))))
    return best + max(0, best - .4)

def f1(page, keep):
    kept = Counter(word for block, yes in zip(page.blocks, keep) if yes for word in block)
    both = sum((kept & Counter(page.truth)).values())
    return 2 * both / max(1, sum(kept.values()) + len(page.truth))

def runs(words): return Counter(tuple(words[k:k + 4]) for k in range(max(1, len(words) - 3)))

def precision_recall(page, keep):
    kept = runs(WORD.findall(' '.join(text for text, yes in zip(page.texts, keep) if yes)))
    true = runs(page.exact)
    both = sum((kept & true).values())
    return both / max(1, sum(kept.values())), both / max(1, sum(true.values()))

class Report:
    """Collects scores by set and prints them."""
    def __init__(self): self.words, self.runs = defaultdict(list), defaultdict(list)

    def add(self, model, pages):
        for page in pages:
            scores = model.predict(page.features)
            keep = scores > threshold(scores, page.sizes)
            self.words[page.set].append(f1(page, keep))
            self.runs[page.set].append(precision_recall(page, keep))

    def print(self):
        for name, values in self.words.items():
            precision, recall = numpy.mean(self.runs[name], axis=0)
            print(f'{name}: words {numpy.mean(values):.4f}, runs of four words {precision:.4f} {recall:.4f} '
                  f'{2 * precision * recall / (precision + recall):.4f}, {len(values)} pages')

def write(model, path):
    """Writes one tree per line, in prefix order: `feature<=threshold` followed by its two branches, or the value of a leaf."""
    def show(node):
        if 'leaf_value' in node: return [f"{node['leaf_value']:.4f}"]
        assert node['decision_type'] == '<='
        head = f"{node['split_feature']}<={node['threshold']:.5g}"
        return [head] + show(node['left_child']) + show(node['right_child'])
    trees = [' '.join(show(tree['tree_structure'])) for tree in model.dump_model()['tree_info']]
    Path(path).write_text('\n'.join(trees) + '\n')

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('data', type=Path); parser.add_argument('blocks', type=Path); parser.add_argument('model')
    parser.add_argument('--train', required=True); parser.add_argument('--check', default='')
    parser.add_argument('--parts', type=int, default=0)
    options = parser.parse_args()
    read = lambda names: [page for name in names.split(',') if name for page in load(options.data, options.blocks, name)]
    check, train, report = read(options.check), read(options.train), Report()
    if options.parts:
        part = lambda page: int(hashlib.md5(page.host.encode()).hexdigest(), 16) % options.parts
        for k in range(options.parts):
            report.add(fit([page for page in train if part(page) != k]), [page for page in train if part(page) == k])
    else:
        hosts = {page.host for page in check}
        model = fit([page for page in train if page.host not in hosts])
        write(model, options.model)
        report.add(model, check)
    report.print()

if __name__ == '__main__': main()
