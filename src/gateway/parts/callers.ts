/**
 * Opens what says who is calling, from which address, and how much each caller may do at once.
 */
import { createAuthenticate, type Authenticate } from '../../access/authenticate.ts'
import { FailedSignIns } from '../../access/failed-sign-ins.ts'
import { createKeyDirectory, type KeyDirectory } from '../../access/key-directory.ts'
import { createKeyUses } from '../../access/key-uses.ts'
import { createRunningLimits, type RunningLimits } from '../../access/limits.ts'
import type { Member } from '../../access/member-store.ts'
import {
  findMemberOwner,
  findOperatorOwner,
  Sessions,
  type TokenOwner,
} from '../../access/session.ts'
import { memberSessions, operatorSessions } from '../../access/session-store.ts'
import { buildIpRanges } from '../../base/ip-address.ts'
import { ClientAddresses } from '../../http/server/client-address.ts'
import type { FailedSignIn } from '../../telemetry/refusal-lines.ts'
import type { Money } from './money.ts'
import type { Opening } from './opening.ts'

export interface Callers {
  /** Remembers keys of the store; cleared when keys or accounts change. */
  readonly keys: KeyDirectory
  readonly authenticate: Authenticate
  readonly sessions: Sessions<TokenOwner>
  readonly memberSessions: Sessions<Member>
  readonly running: RunningLimits
  readonly addresses: ClientAddresses
}

const keysRememberedMax = 10_000

export function openCallers(opening: Opening, { store, operatorStore }: Money): Callers {
  const { config, effects, limits, telemetry, onError, opened } = opening
  const { clock } = effects
  const keys = createKeyDirectory(store.database, { bound: keysRememberedMax })
  const uses = createKeyUses({ clock, database: operatorStore, onError })
  opened.defer(() => uses.close())
  const failures = new FailedSignIns({
    perMinuteMax: limits.failedSignInsMax,
    onReached: (addresses) => telemetry.failedSignInsLimited(addresses),
  })
  const watch = { uses, onFailed: (failed: FailedSignIn) => telemetry.failedSignIn(failed) }
  const common = { clock, database: operatorStore, failures, onError }
  return {
    keys,
    authenticate: createAuthenticate(keys, failures, watch),
    sessions: new Sessions({
      ...common,
      store: operatorSessions,
      findOwner: findOperatorOwner({ hasOidc: config.adminOidcIssuer !== undefined }),
      onUsed: (tokenId, nowMs) => uses.note(tokenId, nowMs),
      onFailed: (address) => telemetry.failedSignIn({ kind: 'admin', address }),
    }),
    memberSessions: new Sessions({
      ...common,
      store: memberSessions,
      findOwner: findMemberOwner,
      onFailed: (address) => telemetry.failedSignIn({ kind: 'member', address }),
    }),
    running: createRunningLimits({
      perKeyMax: limits.runningPerKeyMax,
      perAccountMax: limits.runningPerAccountMax,
      bodies: { totalBytesMax: limits.bodiesBytesMax, bodyBytesMax: config.bodyBytesMax },
    }),
    addresses: openAddresses(opening, store),
  }
}

function openAddresses({ config, telemetry }: Opening, store: Money['store']): ClientAddresses {
  const { trustedProxies, clientAddressHeader: header } = config
  return new ClientAddresses({
    trusted: trustedProxies === undefined ? undefined : buildIpRanges(trustedProxies),
    header,
    onUnlistedProxy(address, how) {
      telemetry.unlistedProxy(address, how)
      store.membership.noteUnlistedProxy(address)
    },
  })
}
