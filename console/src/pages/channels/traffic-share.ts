/** How the requests for a model are shared among the channels of one rank. */
interface Peer {
  /** Of the requests that reach this rank; a channel on a ramp or a slow one takes a part of them. */
  readonly share: number
  readonly weight: number
}

/**
 * Returns the expected part of the requests for each peer. All peers take their shares of the same
 * requests, so within the smallest share all of them compete by weight, beyond it all but one, and so on.
 */
export function trafficShares(peers: readonly Peer[]): readonly number[] {
  const parts = peers.map(() => 0)
  let from = 0
  for (const until of [...new Set(peers.map(({ share }) => share))].sort((a, b) => a - b)) {
    const weights = peers.map(({ share, weight }) => (share >= until && share > 0 ? weight : 0))
    const sum = weights.reduce((total, weight) => total + weight, 0)
    if (sum > 0)
      for (const [index, weight] of weights.entries())
        parts[index] = (parts[index] ?? 0) + ((until - from) * weight) / sum
    from = until
  }
  return parts
}
