/**
 * Shows the text of `data-tip` of what the pointer or the focus is on. One element serves the whole
 * page, so that a table of a thousand numbers needs no thousand components.
 */
import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useState } from 'react'

interface Shown {
  readonly owner: Element
  readonly text: string
}

const shows = ['pointerover', 'focusin'] as const
const hides = ['focusout', 'click'] as const

export function TipLayer() {
  const [shown, setShown] = useState<Shown>()
  useEffect(() => {
    const watch = new AbortController()
    const options = { signal: watch.signal, passive: true }
    const hide = (): void => setShown(undefined)
    const show = ({ target }: Event): void => {
      const owner = target instanceof Element ? target.closest('[data-tip]') : null
      const text = owner?.getAttribute('data-tip') ?? ''
      setShown((now) => {
        if (owner === null || text === '') return undefined
        return now?.owner === owner ? now : { owner, text }
      })
    }
    for (const name of shows) document.addEventListener(name, show, options)
    for (const name of hides) document.addEventListener(name, hide, options)
    document.addEventListener('scroll', hide, { ...options, capture: true })
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), options)
    return () => watch.abort()
  }, [])
  if (shown === undefined) return null
  return (
    <Tooltip.Root open>
      <Tooltip.Portal>
        <Tooltip.Positioner
          anchor={shown.owner}
          sideOffset={6}
          collisionPadding={12}
          className="tip-place"
        >
          <Tooltip.Popup className="tip" aria-hidden>
            {shown.text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
