/**
 * Opens the store with the ledger on it, and the store again for operators, who must not wait for the
 * gateway's own connection, nor it for them.
 */
import { makeKeyForFirstSeal } from '../../operations/catalogue/credentials.ts'
import type { Database } from '../../storage/database.ts'
import { openGatewayStore, openOperatorStore, type GatewayStore } from '../store.ts'
import type { Opening } from './opening.ts'

export interface Money {
  readonly store: GatewayStore
  readonly operatorStore: Database
  /** Opens the store once more for an operator; the caller closes it. */
  readonly openAnother: () => Promise<Database>
}

export async function openMoney(opening: Opening): Promise<Money> {
  const { config, effects, connections, telemetry, opened } = opening
  const { clock, onFatal } = effects
  const store = await openGatewayStore({
    config,
    nodeName: effects.place?.name,
    connections,
    clock,
    onFatal,
    onFault: (error) => telemetry.fault(error, 'ledger'),
    onRecovered: () => telemetry.ledgerRecovered(),
    onCommit: (summary) => telemetry.committed(summary),
    pagesMax: effects.storePagesMax,
    readStoreTime: effects.readStoreTime,
  })
  opened.defer(() => store.close())
  await effects.onStoreOpen?.(store.database)
  await store.database.snapshot((snapshot) => makeKeyForFirstSeal(snapshot, effects.masterKey))
  const further = { store: config.store, connections, clock, onFatal }
  const operatorStore = await openOperatorStore(further)
  opened.defer(() => operatorStore.close())
  return {
    store,
    operatorStore,
    openAnother: () => openOperatorStore({ ...further, isBackground: true }),
  }
}
