/**
 * Looks names up for a connection, and refuses it where an address is not allowed. The check is part of
 * connecting: a name that is checked earlier may lead elsewhere by then.
 */
import { lookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Finds all addresses of a name. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

export class AddressRefused extends Error {}

export const resolveBySystem: Resolve = shareLookups((host, done) =>
  lookup(host, { all: true }, done),
)

/**
 * One look-up at a time for each name, whose result all share that wait for it. Node makes two look-ups at a
 * time, and each waits for seconds where a name server is silent: requests for one such name must not keep
 * those for other names waiting.
 */
export function shareLookups(resolve: Resolve): Resolve {
  const waiting = new Map<string, Parameters<Resolve>[1][]>()
  return (host, done) => {
    const running = waiting.get(host)
    if (running !== undefined) {
      running.push(done)
      return
    }
    const all = [done]
    waiting.set(host, all)
    resolve(host, (error, addresses) => {
      waiting.delete(host)
      for (const one of all) one(error, addresses)
    })
  }
}

/**
 * Returns the `lookup` option of a connection. `faultOf` says why one of the name's addresses must not be
 * connected to; then none is, with an `AddressRefused`.
 */
export function checkedLookup(
  resolve: Resolve,
  faultOf: (address: string, name: string) => string | undefined,
): LookupFunction {
  return (name, { all }, done) =>
    resolve(name, (error, addresses) => {
      // With an error there are no addresses.
      if (error !== null) {
        done(error, '')
        return
      }
      const [first] = addresses
      const faults = addresses.map(({ address }) => faultOf(address, name))
      const fault = faults.find((one) => one !== undefined)
      if (first === undefined) done(new Error('the name has no address'), '')
      else if (fault !== undefined) done(new AddressRefused(fault), '')
      else if (all === true) done(null, [...addresses])
      else done(null, first.address, first.family)
    })
}
