/** What a simulated gateway tells of itself: nobody listens but for faults that nobody should ever see. */
import type { Telemetry } from '../../../src/telemetry/events.ts'

export function telemetryOf(onFault: (error: unknown) => void): Telemetry {
  const ignore = (): void => undefined
  return {
    exchangeEnded: ignore,
    refused: ignore,
    attemptEnded: ignore,
    firstEvent: ignore,
    failedOver: ignore,
    channelChanged: ignore,
    audited: ignore,
    auditFailed: ignore,
    unlistedProxy: ignore,
    failedSignInsLimited: ignore,
    probeEnded: ignore,
    checkCost: ignore,
    journalDropped: ignore,
    channelOff: ignore,
    channelBack: ignore,
    credentialRefused: ignore,
    noCredit: ignore,
    modelMissing: ignore,
    reserveOnly: ignore,
    noUsableChannel: ignore,
    modelRecovered: ignore,
    ledgerRecovered: ignore,
    changesFollowed: ignore,
    // A charge that could not be stored is told of here as well, and is no fault of the relay.
    fault: (error, where) => {
      if (where !== 'settle') onFault(error)
    },
  }
}
