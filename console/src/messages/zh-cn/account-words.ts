/** The words of the account page: those of its rooms and none of the operators. */
import { account } from './account.ts'
import { list } from './list.ts'
import { figures } from './figures.ts'
import { time } from './time.ts'
import { ui } from './ui.ts'
import { problems } from './said/problems.ts'
import { vendorErrors } from './said/vendor-errors.ts'

export const words = {
  said: { problems, vendorErrors },
  account,
  list,
  figures,
  time,
  ui,
}
