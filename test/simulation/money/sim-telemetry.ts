/** Events of a simulated gateway: all are ignored but faults, which must not happen. */
import type { Telemetry } from '../../../src/telemetry/events.ts'

export function telemetryOf(onFault: (error: unknown) => void): Telemetry {
  const ignore = (): void => undefined
  return {
    exchangeEnded: ignore,
    freeExchangeEnded: ignore,
    committed: ignore,
    spansEnded: ignore,
    refused: ignore,
    failedSignIn: ignore,
    attemptEnded: ignore,
    firstEvent: ignore,
    failedOver: ignore,
    channelChanged: ignore,
    audited: ignore,
    auditFailed: ignore,
    unlistedProxy: ignore,
    connectionClosed: ignore,
    shortage: ignore,
    alertSent: ignore,
    failedSignInsLimited: ignore,
    probeEnded: ignore,
    checkCost: ignore,
    journalDropped: ignore,
    channelRefused: ignore,
    alertChanged: ignore,
    ledgerRecovered: ignore,
    changesFollowed: ignore,
    // A charge that could not be stored is reported here as well, and is no fault of the relay.
    fault: (error, where) => {
      if (where !== 'settle') onFault(error)
    },
  }
}
