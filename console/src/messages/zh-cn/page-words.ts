/** The words of the pages that load after the first screen. */
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { codes } from './codes.ts'
import { entries } from './entries.ts'
import { keys } from './keys.ts'
import { models } from './models.ts'
import { reconciliation } from './reconciliation.ts'
import { reports } from './reports.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'

export const words = {
  accounts,
  alerts,
  audit,
  codes,
  entries,
  keys,
  models,
  reconciliation,
  reports,
  requests,
  settings,
}
