/**
 * Opens what operators and account holders can do on a running gateway: the context of their operations, and
 * the feed of changes.
 */
import { checkChannel } from '../../channels/probes/check.ts'
import { CodeTries } from '../../operations/codes/code-tries.ts'
import { EventFeed } from '../../operations/events/feed.ts'
import { watchLists } from '../../operations/events/lists.ts'
import {
  createHolderReader,
  type HolderReader,
  type HolderReaderParts,
} from '../../operations/holder/reader.ts'
import type { SendMail } from '../../operations/alerts/mailer.ts'
import { mailingOf } from '../../operations/members/mailing.ts'
import { signUpRuleOf } from '../../operations/members/sign-up-rule.ts'
import type { OperationContext } from '../../operations/operation.ts'
import type { StripeClient } from '../../operations/payments/stripe.ts'
import { createCopies } from '../../operations/store/backup-download.ts'
import type { Bookkeeping } from '../../operations/store/bookkeeping.ts'
import { listSettings } from '../../settings/in-force.ts'
import { parseStoreLocation } from '../../storage/location.ts'
import type { Money } from './money.ts'
import { checkoutOf } from './payments.ts'
import type { Opening } from './opening.ts'
import type { Relaying } from './relaying.ts'

type Operations = Omit<OperationContext, 'actor'>

export interface Operators {
  readonly operations: Operations
  readonly holderReader: HolderReader
  /** The caller closes it before the listeners, whose connections its readers keep open. */
  readonly events: EventFeed
}

interface Below {
  readonly money: Money
  readonly relaying: Relaying
  readonly bookkeeping: Bookkeeping
  readonly mail: SendMail | undefined
  readonly stripe: StripeClient | undefined
}

const checkTimeoutMs = 30_000

export function openOperators(
  opening: Opening,
  { money, relaying, bookkeeping, mail, stripe }: Below,
): Operators {
  const { config, effects, onError } = opening
  const { clock, environment, masterKey } = effects
  const { operatorStore, store } = money
  const { upstream } = relaying
  const readHeld: HolderReaderParts['readHeld'] = (accountIds) => store.ledger.readHeld(accountIds)
  const { taxPercent: taxThousandths = 0 } = config
  const holderReader = createHolderReader({
    clock,
    store: config.store,
    taxThousandths,
    readHeld,
    onThreadLost: onError,
  })
  opening.opened.defer(() => holderReader.close())
  const common: Operations = {
    database: operatorStore,
    clock,
    masterKey,
    environment,
    settings: listSettings(config),
    mailing: mailingOf(config, mail),
    signUp: signUpRuleOf(config),
    codeTries: new CodeTries(),
    ...(stripe !== undefined && { checkout: checkoutOf(opening, stripe) }),
    readHeld,
    taxThousandths,
    auditInBackground: () => bookkeeping.auditFully(),
    runCheck: (check) => checkChannel({ ...check, timeoutMs: checkTimeoutMs }, { upstream, clock }),
  }
  const location = parseStoreLocation(config.store)
  return {
    operations: {
      ...common,
      ...(location.kind === 'sqlite' && {
        openCopy: createCopies(location.path, (path) => bookkeeping.copyTo(path)),
      }),
      credentialRule: {
        variables: config.apiCredentialVariables,
        folders: config.apiCredentialFileFolders,
      },
    },
    holderReader,
    events: new EventFeed({ clock, watch: () => watchLists(operatorStore), onError }),
  }
}
