/** The words of the account page: those of its rooms and none of the operators. */
import { account } from './account.ts'
import { list } from './list.ts'
import { figures } from './figures.ts'
import { time } from './time.ts'
import { ui } from './ui.ts'
import { problems } from './problems.ts'

export const words = {
  problems,
  account,
  list,
  figures,
  time,
  ui,
}
