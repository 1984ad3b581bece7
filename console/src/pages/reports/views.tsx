/** Views of the reports that a person has given a name. They are kept in this browser only. */
import { Popover } from '@base-ui/react/popover'
import { Link } from '@tanstack/react-router'
import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../messages/t.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { readSearch, type ReportSearch } from './address.ts'

interface View {
  readonly name: string
  readonly search: ReportSearch
}

const storageKey = 'turnpike-report-views'
const viewsMax = 50
const nameLengthMax = 60

/** Views of another release, or written by hand, are left out. */
function readViews(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    if (typeof kept !== 'object' || kept === null) return []
    return Object.entries(kept).map(([name, search]) => ({
      name,
      search: readSearch({ ...(search as object) }),
    }))
  } catch {
    return []
  }
}

export function Views({ search }: { search: ReportSearch }) {
  const [views, setViews] = useState(readViews)
  const [name, setName] = useState('')
  const keep = (changed: readonly View[]): void => {
    const kept = changed.slice(-viewsMax)
    const byName = kept.map((view) => [view.name, view.search])
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(byName)))
    setViews(kept)
  }
  const others = (taken: string): readonly View[] => views.filter((view) => view.name !== taken)
  return (
    <Popover.Root>
      <Popover.Trigger
        render={
          <Button>
            <Bookmark aria-hidden /> {t('reports.views')}
          </Button>
        }
      />
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} className="menu-place">
          <Popover.Popup className="menu" aria-label={t('reports.views')}>
            <div className="card-body stack">
              {views.length === 0 && <p className="soft">{t('reports.noViews')}</p>}
              <ul>
                {views.map((view) => (
                  <li key={view.name} className="row row-between">
                    <Link to="/reports" search={view.search}>
                      {view.name}
                    </Link>
                    <IconButton
                      label={t('reports.removeView', { name: view.name })}
                      onClick={() => keep(others(view.name))}
                    >
                      <X aria-hidden />
                    </IconButton>
                  </li>
                ))}
              </ul>
              <form
                className="stack"
                onSubmit={(event) => {
                  event.preventDefault()
                  if (name.trim() === '') return
                  keep([...others(name.trim()), { name: name.trim(), search }])
                  setName('')
                }}
              >
                <TextField
                  label={t('reports.viewName')}
                  value={name}
                  maxLength={nameLengthMax}
                  hint={t('reports.viewHint')}
                  onChange={setName}
                />
                <div className="row">
                  <Button type="submit" look="primary" disabled={name.trim() === ''}>
                    {t('reports.saveView')}
                  </Button>
                  <CopyButton text={location.href} label={t('reports.copyAddress')} />
                </div>
              </form>
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
