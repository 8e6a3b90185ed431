#!/usr/bin/env python3
"""Fits the model of main content (model.txt) to pages whose main content is known.

  cargo run --release -p websvc-extract --example blocks -- DATA/SET BLOCKS/SET.tsv        (for each set)
  fit.py DATA BLOCKS model.txt --train wcxb-dev,aeb,readability,defuddle [--check wcxb-test]

Needs numpy and lightgbm. DATA/SET/truth.jsonl holds one object per page with `id`, `url` and `text` or `markdown`. With
--check, hosts that occur in the checked sets are left out of training, and the word F1 on those sets is printed: fit on some
sets and check on others before fitting the model that ships on all of them. The same input gives the same model."""
import argparse, json, re
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlparse
import lightgbm
import numpy
from labels import labels

WORD = re.compile(r'\w+')
TREES = 300
PARAMETERS = dict(objective='cross_entropy', num_leaves=8, learning_rate=.06, min_data_in_leaf=60, feature_fraction=.15,
                  bagging_fraction=.8, bagging_freq=1, lambda_l2=5, max_bin=63, min_sum_hessian_in_leaf=1e-2, verbose=-1,
                  seed=1, deterministic=True, num_threads=2)

def words(text): return WORD.findall(text.lower())
class Page: pass

def load(data, blocks, name):
    plain = lambda markdown: re.sub(r'\]\([^)]*\)|[*`#|\\]', ' ', markdown)
    found = defaultdict(lambda: ([], []))
    for line in open(blocks / f'{name}.tsv', encoding='utf-8'):
        page, text, signals, *_ = line.rstrip('\n').split('\t')
        found[page][0].append(words(text))
        found[page][1].append(numpy.array(signals.split(), dtype=numpy.float32))
    for line in open(data / name / 'truth.jsonl', encoding='utf-8'):
        row = json.loads(line)
        if row['id'] not in found: continue
        page, truth = Page(), row['text'] if 'text' in row else plain(row['markdown'])
        page.set, page.host, page.truth = name, urlparse(row['url']).netloc, words(truth)
        page.blocks, signals = found[row['id']]
        page.signals, page.labels = numpy.array(signals), labels(page.blocks, page.truth)
        page.sizes = numpy.array([max(len(block), 1) for block in page.blocks], dtype=float)
        # Pages count about alike, and long blocks less than their length: there are many more pages than long ones.
        page.weights = page.sizes ** .75 / max(len(page.truth), 60) ** .75
        yield page

def threshold(scores, sizes):
    """The score from which on blocks are kept: half of the best F1 that the scores let one expect."""
    order = numpy.argsort(-scores)
    hits, kept = numpy.cumsum((scores * sizes)[order]), numpy.cumsum(sizes[order])
    return min(.45, max(.12, numpy.max(hits / (kept + (scores * sizes).sum()))))

def f1(page, keep):
    kept = Counter(word for block, yes in zip(page.blocks, keep) if yes for word in block)
    both = sum((kept & Counter(page.truth)).values())
    return 2 * both / max(1, sum(kept.values()) + len(page.truth))

def write(model, path):
    """One tree a line, in prefix order: `signal<=threshold` with its two branches behind it, or the value of a leaf."""
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
    options = parser.parse_args()
    check = [page for name in options.check.split(',') if name for page in load(options.data, options.blocks, name)]
    hosts = {page.host for page in check}
    train = [page for name in options.train.split(',') for page in load(options.data, options.blocks, name)]
    train = [page for page in train if page.host not in hosts]
    join = lambda name: numpy.concatenate([getattr(page, name) for page in train])
    model = lightgbm.train(PARAMETERS, lightgbm.Dataset(join('signals'), join('labels'), weight=join('weights')), TREES)
    write(model, options.model)
    by_set = defaultdict(list)
    for page in check:
        scores = model.predict(page.signals)
        by_set[page.set].append(f1(page, scores > threshold(scores, page.sizes)))
    for name, values in by_set.items(): print(f'{name}: word F1 {numpy.mean(values):.4f} on {len(values)} pages')

if __name__ == '__main__': main()
