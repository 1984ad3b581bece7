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

export function resolveBySystem(host: string, done: Parameters<Resolve>[1]): void {
  lookup(host, { all: true }, done)
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
