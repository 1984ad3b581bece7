/**
 * The operations as tests call them: each returns its value, and throws a `GatewayError` where the
 * operation was refused. Tests of refusals as values call the operations themselves.
 */
import * as accounts from '../../src/operations/accounts.ts'
import * as actions from '../../src/operations/actions.ts'
import * as catalogue from '../../src/operations/catalogue/catalogue.ts'
import * as channelHealth from '../../src/operations/channel-health.ts'
import * as channelCheck from '../../src/operations/channel-check.ts'
import * as channels from '../../src/operations/channels.ts'
import * as keys from '../../src/operations/keys.ts'
import { valueOf, type OperationContext, type Outcome } from '../../src/operations/operation.ts'
import * as prices from '../../src/operations/prices/import.ts'
import * as reconcile from '../../src/operations/reconcile/reconcile.ts'
import * as statement from '../../src/operations/reports/statement.ts'
import * as usage from '../../src/operations/reports/usage.ts'
import * as storeCopy from '../../src/operations/store/store-copy.ts'

function orThrow<Parameters extends readonly unknown[], Value>(
  operate: (...parameters: Parameters) => Promise<Outcome<Value>>,
): (...parameters: Parameters) => Promise<Value> {
  return async (...parameters) => valueOf(await operate(...parameters))
}

export const createAccount = orThrow(accounts.createAccount)
export const listAccounts = orThrow(accounts.listAccounts)
export const showAccount = orThrow(accounts.showAccount)
export const changeAccount = orThrow(accounts.changeAccount)
export const setAccountStatus = orThrow(accounts.changeAccount)
export const limitAccount = orThrow(accounts.changeAccount)
/** Confirms unusual amounts, which tests often book. */
export const creditAccount = (context: OperationContext, input: object) =>
  orThrow(accounts.creditAccount)(context, { confirm: true, ...input })
export const recentActions = orThrow(actions.recentActions)
export const applyCatalogue = orThrow(catalogue.applyCatalogue)
export const channelHistory = orThrow(channelHealth.channelHistory)
export const showChannel = orThrow(channelHealth.showChannel)
export const switchChannel = orThrow(channels.switchChannel)
export const checkChannel = orThrow(channelCheck.checkChannel)
export const createClientKey = orThrow(keys.createClientKey)
export const createReaderToken = orThrow(keys.createReaderToken)
export const createAdminToken = orThrow(keys.createAdminToken)
export const listAccountKeys = orThrow(keys.listAccountKeys)
export const revokeKey = orThrow(keys.revokeKey)
export const adoptAdminToken = orThrow(keys.adoptAdminToken)
export const importPrices = orThrow(prices.importPrices)
export const reconcileChannel = orThrow(reconcile.reconcileChannel)
export const writeStatement = orThrow(statement.writeStatement)
export const accountUsage = orThrow(usage.accountUsage)
export const copyStoreTo = orThrow(storeCopy.copyStoreTo)
