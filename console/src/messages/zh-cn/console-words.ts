/** The words of the shell and the first screen, and those that other pages share with it. */
import { channels } from './channels.ts'
import { figures } from './figures.ts'
import { keyForm } from './key-form.ts'
import { list } from './list.ts'
import { margin } from './margin.ts'
import { overview } from './overview.ts'
import { shell } from './shell.ts'
import { time } from './time.ts'
import { ui } from './ui.ts'

export const words = {
  channels,
  figures,
  keyForm,
  list,
  margin,
  overview,
  shell,
  time,
  ui,
}
