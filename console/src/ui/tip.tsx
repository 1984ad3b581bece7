/**
 * Shows the text of `data-tip` of what the pointer or the focus is on. One element serves the whole
 * page, so that a table of a thousand numbers needs no thousand components.
 */
import { useEffect, useRef, useState } from 'react'
import './tip.css'

interface Shown {
  readonly text: string
  readonly left: number
  readonly top: number
  readonly isAbove: boolean
}

const besideTheEdge = 12

export function TipLayer() {
  const [shown, setShown] = useState<Shown>()
  const owner = useRef<Element>(undefined)
  useEffect(() => {
    const hide = (): void => {
      owner.current = undefined
      setShown(undefined)
    }
    const show = ({ target }: Event): void => {
      const found = target instanceof Element ? target.closest('[data-tip]') : null
      if (found === owner.current) return
      const text = found?.getAttribute('data-tip') ?? ''
      if (found === null || text === '') return hide()
      owner.current = found
      setShown(placeAt(found, text))
    }
    const hideOnEscape = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') hide()
    }
    document.addEventListener('pointerover', show)
    document.addEventListener('focusin', show)
    document.addEventListener('focusout', hide)
    document.addEventListener('keydown', hideOnEscape)
    document.addEventListener('click', hide)
    document.addEventListener('scroll', hide, { capture: true, passive: true })
    return () => {
      document.removeEventListener('pointerover', show)
      document.removeEventListener('focusin', show)
      document.removeEventListener('focusout', hide)
      document.removeEventListener('keydown', hideOnEscape)
      document.removeEventListener('click', hide)
      document.removeEventListener('scroll', hide, { capture: true })
    }
  }, [])
  if (shown === undefined) return null
  const { text, left, top, isAbove } = shown
  return (
    <div className={isAbove ? 'tip tip-above' : 'tip'} style={{ left, top }} aria-hidden>
      {text}
    </div>
  )
}

function placeAt(owner: Element, text: string): Shown {
  const box = owner.getBoundingClientRect()
  const isAbove = box.top > 48
  const middle = box.left + box.width / 2
  const left = Math.min(Math.max(middle, besideTheEdge + 90), innerWidth - besideTheEdge - 90)
  return { text, left, top: isAbove ? box.top - 6 : box.bottom + 6, isAbove }
}
