/**
 * Sentences that the gateway writes, in Chinese, by their code. English has none: the gateway writes it. A
 * test holds them beside the codes of the gateway.
 */
import { alerts } from './alerts.ts'
import { books } from './books.ts'
import { doctor } from './doctor.ts'
import { errors } from './errors.ts'
import { memberSentences } from './member-sentences.ts'
import { moneySentences } from './money-sentences.ts'
import { problems } from './problems.ts'
import { attempts, chargeReasons } from './requests.ts'
import { sentences as general } from './sentences.ts'
import { settings } from './settings.ts'
import { vendorErrors } from './vendor-errors.ts'

/** Those without a code. */
export const sentences = { ...general, ...books, ...memberSentences, ...moneySentences }

export const said = {
  alerts,
  attempts,
  chargeReasons,
  doctor,
  errors,
  problems,
  settings,
  vendorErrors,
}
