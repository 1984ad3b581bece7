/** Lists the keyboard shortcuts. */
import { t } from '../../messages/t.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { sections } from '../sections.ts'

interface HelpSheetProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

const everywhere = [
  { keys: ['Ctrl', 'K'], text: t('shell.help.palette') },
  { keys: ['/'], text: t('shell.help.search') },
  { keys: ['j'], text: t('list.keyNext') },
  { keys: ['k'], text: t('list.keyBefore') },
  { keys: ['Enter'], text: t('list.keyOpen') },
  { keys: ['?'], text: t('shell.help.sheet') },
  { keys: ['Esc'], text: t('shell.help.close') },
] as const

const pages = sections.map(({ letter, name }) => ({ keys: ['g', letter], text: name }))

export function HelpSheet({ isOpen, onClose }: HelpSheetProps) {
  return (
    <Dialog
      title={t('shell.shortcuts')}
      hint={t('shell.help.hint')}
      isOpen={isOpen}
      onClose={onClose}
    >
      <dl className="stack shortcuts">
        {[...everywhere, ...pages].map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
