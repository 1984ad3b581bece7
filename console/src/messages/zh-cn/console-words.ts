/** The words of the console. */
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { codes } from './codes.ts'
import { channels } from './channels.ts'
import { entries } from './entries.ts'
import { keyForm } from './key-form.ts'
import { keys } from './keys.ts'
import { margin } from './margin.ts'
import { list } from './list.ts'
import { models } from './models.ts'
import { figures } from './figures.ts'
import { overview } from './overview.ts'
import { reconciliation } from './reconciliation.ts'
import { reports } from './reports.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'
import { shell } from './shell.ts'
import { time } from './time.ts'
import { ui } from './ui.ts'

export const words = {
  accounts,
  alerts,
  audit,
  channels,
  codes,
  entries,
  keyForm,
  keys,
  margin,
  list,
  models,
  figures,
  overview,
  reconciliation,
  reports,
  requests,
  settings,
  shell,
  time,
  ui,
}
