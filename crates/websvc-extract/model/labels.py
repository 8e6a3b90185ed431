"""Labels the blocks of a page that are main content, by aligning them with the known main text."""
import bisect, difflib
from collections import Counter, defaultdict
import numpy

N = 4  # A block of at least this many words is recognized by its n-grams, a shorter one by its position.

def rising(pairs):
    """Returns the longest subsequence of `pairs` (block, position), ordered by block, in which the positions rise, too."""
    tails, index, before = [], [], [-1] * len(pairs)
    for k, (_, position) in enumerate(pairs):
        j = bisect.bisect_left(tails, position)
        tails[j:j + 1], index[j:j + 1] = [position], [k]
        before[k] = index[j - 1] if j else -1
    out, k = [], index[-1] if index else -1
    while k >= 0:
        out.append(pairs[k])
        k = before[k]
    return out[::-1]

def grams(words): return [tuple(words[k:k + N]) for k in range(len(words) - N + 1)]

def labels(blocks, truth):
    """Returns the share of each block (a list of words) that is in `truth` (a list of words). Of texts that the page repeats,
    only as many copies count as the truth has, those at its positions."""
    count, size = len(blocks), len(truth)
    label, at = numpy.zeros(count), defaultdict(list)
    for k, gram in enumerate(grams(truth)): at[gram].append(k)
    share, copies = {}, defaultdict(list)
    for i, block in enumerate(blocks):
        if len(block) >= N:
            share[i] = float(numpy.mean([gram in at for gram in grams(block)]))
            if share[i] > .5: copies[tuple(block)].append(i)
    pairs = []
    for i, part in share.items():
        if part < .6 or len(copies[tuple(blocks[i])]) > 1: continue
        places = ((k, at.get(gram)) for k, gram in enumerate(grams(blocks[i])))
        sure = next(((i, place[0] - k) for k, place in places if place and len(place) == 1), None)
        if sure: pairs.append(sure)
    anchors = rising(pairs)
    anchored, position = [i for i, _ in anchors], dict(anchors)

    def bounds(i):
        """Returns the range of words of the truth that a block must be in, by the anchors around it."""
        k = bisect.bisect_left(anchored, i)
        low = position[anchored[k - 1]] + len(blocks[anchored[k - 1]]) if k else 0
        k += k < len(anchored) and anchored[k] == i
        return low, position[anchored[k]] if k < len(anchored) else size

    for i, part in share.items(): label[i] = part
    for text, where in copies.items():
        first = next((gram for gram in grams(list(text)) if gram in at), None)
        wanted = len(at[first]) if first else 0
        if len(where) < 2 or wanted >= len(where): continue
        def misfit(i):
            low, high = bounds(i)
            return min((max(low - place - 3, place - high - 3, 0) for place in at[first]), default=size)
        for i in sorted(where, key=lambda i: (misfit(i), i))[wanted:]: label[i] = 0
    edges = [(-1, 0, 0)] + [(i, p, p + len(blocks[i])) for i, p in anchors] + [(count, size, size)]
    for (i, start, end), (j, high, _) in zip(edges, edges[1:]):
        low = min(end, high)
        between(blocks, truth, label, share, range(i + 1, j), low, max(high, low))
    for i in range(count):
        # A short block far from any content matches by chance.
        if i in share or label[i] < 1: continue
        near = sum(label[j] * max(1, len(blocks[j])) for j in range(max(0, i - 8), min(count, i + 9)) if j != i)
        if size > 120 and near < 4: label[i] = 0
    return label

def between(blocks, truth, label, share, span, low, high):
    """Labels the short blocks of `span` that occur, in order and whole, among the words `low` to `high` of the truth."""
    short = [i for i in span if i not in share]
    if not short or high <= low: return
    words, owner = [], []
    for i in span:
        if i in share and label[i] < .5: continue
        words += blocks[i]
        owner += [i] * len(blocks[i])
    there = truth[low:high][:30_000_000 // max(1, len(words))]
    hits = Counter()
    for match in difflib.SequenceMatcher(None, words, there, autojunk=False).get_matching_blocks():
        hits.update(owner[match.a:match.a + match.size])
    for i in short: label[i] = float(bool(blocks[i]) and hits[i] == len(blocks[i]))
