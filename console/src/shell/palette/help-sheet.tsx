/** Lists the keyboard shortcuts. */
import { Dialog } from '../../ui/dialog.tsx'
import { sections } from '../sections.ts'

interface HelpSheetProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

const everywhere = [
  { keys: ['Ctrl', 'K'], text: 'Search everything, open pages, start actions (⌘ K on a Mac)' },
  { keys: ['/'], text: 'Search on this page' },
  { keys: ['?'], text: 'This sheet' },
  { keys: ['Esc'], text: 'Close what is open' },
] as const

const pages = sections.map(({ letter, name }) => ({ keys: ['g', letter], text: name }))

export function HelpSheet({ isOpen, onClose }: HelpSheetProps) {
  return (
    <Dialog
      title="Keyboard shortcuts"
      hint="While you type, only the first one acts."
      isOpen={isOpen}
      onClose={onClose}
    >
      <dl className="shortcuts">
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
