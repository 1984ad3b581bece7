/**
 * Figures of the request path, gathered as cheaply as may be and handed to the metrics library when
 * somebody reads them: finding a series by its labels costs the library more than anything else that
 * an exchange counts. Memory is bounded by the label values, which come from closed sets.
 */

class Node {
  readonly values: readonly string[]
  readonly children = new Map<string, Node>()
  sum = 0

  constructor(values: readonly string[]) {
    this.values = values
  }
}

/** Sums by label values. */
export class Tally {
  readonly #root = new Node([])
  readonly #nodes: Node[] = []

  add(more: number, ...values: readonly string[]): void {
    let node = this.#root
    for (const value of values) node = node.children.get(value) ?? this.#grow(node, value)
    node.sum += more
  }

  /** Hands over every sum that is not zero, and begins anew. */
  take(hand: (values: readonly string[], sum: number) => void): void {
    for (const node of this.#nodes) {
      if (node.sum !== 0) hand(node.values, node.sum)
      node.sum = 0
    }
  }

  #grow(parent: Node, value: string): Node {
    const node = new Node([...parent.values, value])
    parent.children.set(value, node)
    this.#nodes.push(node)
    return node
  }
}

const keptMax = 512

/** Single values by label values, handed over when somebody reads them or when they become many. */
export class Samples {
  readonly #hand: (values: readonly string[], sample: number) => void
  readonly #kept: [values: readonly string[], sample: number][] = []

  constructor(hand: (values: readonly string[], sample: number) => void) {
    this.#hand = hand
  }

  add(sample: number, ...values: readonly string[]): void {
    this.#kept.push([values, sample])
    if (this.#kept.length >= keptMax) this.flush()
  }

  flush(): void {
    for (const [values, sample] of this.#kept) this.#hand(values, sample)
    this.#kept.length = 0
  }
}
