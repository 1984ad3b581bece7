/**
 * The operations as tests call them: each returns its value, and throws a `GatewayError` where the
 * operation was refused. Tests of refusals as values call the operations themselves.
 */
import * as accountList from '../../src/operations/accounts/account-list.ts'
import * as accounts from '../../src/operations/accounts/accounts.ts'
import * as actionList from '../../src/operations/store/action-list.ts'
import * as catalogue from '../../src/operations/catalogue/catalogue.ts'
import * as catalogueExport from '../../src/operations/catalogue/export.ts'
import * as channelHealth from '../../src/operations/channels/channel-health.ts'
import * as channelCheck from '../../src/operations/channels/channel-check.ts'
import * as channels from '../../src/operations/channels/channels.ts'
import * as firstAdminToken from '../../src/operations/keys/first-admin-token.ts'
import * as allKeys from '../../src/operations/keys/all-keys.ts'
import * as keys from '../../src/operations/keys/keys.ts'
import { valueOf, type OperationContext, type Outcome } from '../../src/operations/operation.ts'
import * as prices from '../../src/operations/prices/import.ts'
import type { Page } from '../../src/operations/paging.ts'
import * as versions from '../../src/operations/prices/versions.ts'
import * as reconcile from '../../src/operations/reconcile/reconcile.ts'
import * as reconciliations from '../../src/operations/reconcile/runs.ts'
import * as refunds from '../../src/operations/requests/refunds.ts'
import type { RunCheck } from '../../src/operations/channels/run-check.ts'
import * as histogram from '../../src/operations/requests/histogram.ts'
import * as requests from '../../src/operations/requests/requests.ts'
import * as searches from '../../src/operations/search/search.ts'
import * as figures from '../../src/operations/reports/statement-figures.ts'
import * as statement from '../../src/operations/reports/statement.ts'
import * as usage from '../../src/operations/reports/usage.ts'
import * as doctor from '../../src/operations/store/doctor.ts'
import * as storeCopy from '../../src/operations/store/store-copy.ts'

function orThrow<Parameters extends readonly unknown[], Value>(
  operate: (...parameters: Parameters) => Promise<Outcome<Value>>,
): (...parameters: Parameters) => Promise<Value> {
  return async (...parameters) => valueOf(await operate(...parameters))
}

/** Calls a list and returns the items of its first page. */
function itemsOf<Item>(
  operate: (context: OperationContext, input: object) => Promise<Outcome<Page<Item>>>,
): (context: OperationContext, input?: object) => Promise<readonly Item[]> {
  return async (context, input = {}) => valueOf(await operate(context, input)).items
}

/** Calls an operation with this answer to every check. */
function withChecks<Value>(
  operate: (context: OperationContext, input: object) => Promise<Outcome<Value>>,
): (context: OperationContext, input: object, runCheck: RunCheck) => Promise<Value> {
  return async (context, input, runCheck) => valueOf(await operate({ ...context, runCheck }, input))
}

/** Returns the catalogue as a file. */
export async function exportCatalogue(context: OperationContext): Promise<string> {
  return valueOf(await catalogueExport.exportCatalogue(context, {})).text
}

export const createAccount = orThrow(accounts.createAccount)
export const listAccounts = orThrow(accountList.listAccounts)
export const showAccount = orThrow(accountList.showAccount)
export const changeAccount = orThrow(accounts.changeAccount)
export const setAccountStatus = orThrow(accounts.changeAccount)
export const limitAccount = orThrow(accounts.changeAccount)
/** Confirms unusual amounts, which tests often book. */
export const creditAccount = (context: OperationContext, input: object) =>
  orThrow(accounts.creditAccount)(context, { confirm: true, ...input })
export const refundRequest = orThrow(refunds.refundRequest)
export const recentActions = itemsOf(actionList.recentActions)
export const applyCatalogue = orThrow(catalogue.applyCatalogue)
export const channelHistory = itemsOf(channelHealth.channelHistory)
export const listChannels = itemsOf(channelHealth.listChannels)
export const showChannel = orThrow(channelHealth.showChannel)
export const switchChannel = orThrow(channels.switchChannel)
export const checkChannel = withChecks(channelCheck.checkChannel)
export const createClientKey = orThrow(keys.createClientKey)
export const editKey = orThrow(keys.editKey)
export const createReaderToken = orThrow(keys.createReaderToken)
export const createAdminToken = orThrow(keys.createAdminToken)
export const listAccountKeys = itemsOf(keys.listAccountKeys)
export const search = orThrow(searches.search)
export const listAllKeys = orThrow(allKeys.listAllKeys)
export const findKeys = orThrow(allKeys.findKeys)
export const listAdminTokens = itemsOf(keys.listAdminTokens)
export const revokeKey = orThrow(keys.revokeKey)
export const adoptAdminToken = orThrow(firstAdminToken.adoptAdminToken)
export const importPrices = orThrow(prices.importPrices)
export const listPrices = itemsOf(versions.listPrices)
export const reconcileChannel = orThrow(reconcile.reconcileChannel)
export const listReconciliations = itemsOf(reconciliations.listKeptRuns)
export const countRequests = orThrow(histogram.countRequests)
export const listRequests = orThrow(requests.listRequests)
export const showRequest = orThrow(requests.showRequest)
export const writeStatement = orThrow(statement.writeStatement)
export const statementFigures = orThrow(figures.readStatementFigures)
export const accountUsage = orThrow(usage.accountUsage)
export const diagnose = withChecks(doctor.diagnose)
export const copyStoreTo = orThrow(storeCopy.copyStoreTo)
