/** The words of the account page: those of its rooms and none of the operators. */
import { account } from './account.ts'
import { keyForm } from './key-form.ts'
import { list } from './list.ts'
import { members } from './members.ts'
import { figures } from './figures.ts'
import { time } from './time.ts'
import { ui } from './ui.ts'
import { problems } from './said/problems.ts'
import { vendorErrors } from './said/vendor-errors.ts'

export const words = {
  said: { problems, vendorErrors },
  account,
  keyForm,
  list,
  members,
  figures,
  time,
  ui,
}
