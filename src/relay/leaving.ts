/**
 * The consequences where a client leaves. Before the first byte that is free while the account's allowance
 * lasts; later it costs the delivered part. Beyond the grace time the gateway reads on only where the request
 * asks for reasoning, which is bought although it is not shown.
 */
import type { Picos } from '../base/money.ts'
import { quote } from '../metering/charge.ts'
import { likelyFacts } from './request-costs.ts'
import type { Admitted, RelayServices } from './stages.ts'

type LeavingServices = Pick<RelayServices, 'clock' | 'settings' | 'waivers'>

/** The rules for one exchange. */
export interface Leaving {
  /** The answer may be read on to the vendor's count. */
  readonly mayReadOn: boolean
  /** Whether leaving before the first byte is free. */
  isFree(): Promise<boolean>
}

export function leavingOf(admitted: Admitted, services: LeavingServices): Leaving {
  return new ExchangeLeaving(admitted, services)
}

class ExchangeLeaving implements Leaving {
  readonly #admitted: Admitted
  readonly #services: LeavingServices

  constructor(admitted: Admitted, services: LeavingServices) {
    this.#admitted = admitted
    this.#services = services
  }

  get mayReadOn(): boolean {
    const { clientLeftGraceMs } = this.#services.settings
    return this.#admitted.hold !== undefined && mayReason(this.#admitted) && clientLeftGraceMs > 0
  }

  isFree(): Promise<boolean> {
    return askWaiver(this.#admitted, this.#services)
  }
}

/** Whether reasoning may be bought that no byte of the answer shows. */
export function mayReason({ facts, model }: Pick<Admitted, 'facts' | 'model'>): boolean {
  return facts.asksReasoning === true || model.thinks === true
}

/** Asks whether an exchange that came to nothing is free; the answer stays the same until it is settled. */
export function askWaiver(
  admitted: Admitted,
  { clock, waivers }: Pick<RelayServices, 'clock' | 'waivers'>,
): Promise<boolean> {
  const { exchangeId, principal } = admitted
  return waivers.ask({
    exchangeId,
    accountId: principal.accountId,
    likelyPicos: likelyPicos(admitted),
    atMs: clock.now(),
  })
}

/** What the exchange was likely to cost, whatever its hold had to cover. */
export function likelyPicos(admitted: Admitted): Picos {
  return quote(likelyFacts(admitted))
}
