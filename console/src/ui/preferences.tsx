/** What a person chooses for this browser: the theme and the language of the page. */
import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import {
  keepLanguage,
  language,
  languageNames,
  languages,
  type Language,
} from '../messages/language.ts'
import { t } from '../messages/t.ts'
import { Button, IconButton } from './button.tsx'
import { Menu, type MenuProps } from './menu.tsx'
import { chooseTheme, themes, useTheme } from './theme.ts'

const icons = { system: Monitor, light: Sun, dark: Moon }

/** The themes that are not chosen, for a menu. */
export function useThemeItems() {
  const chosen = useTheme()
  return themes
    .filter((theme) => theme !== chosen)
    .map((theme) => ({
      Icon: icons[theme],
      text: t(`ui.themes.${theme}`),
      onSelect: () => chooseTheme(theme),
    }))
}

const otherLanguages = languages.filter((each) => each !== language)

/** Loads the page again: all that it shows is made in one language. A page with unsaved input asks first. */
function chooseLanguage(chosen: Language): void {
  keepLanguage(chosen)
  location.reload()
}

/** The other languages, for a menu. */
export function languageItems() {
  return otherLanguages.map((each) => ({
    Icon: Languages,
    text: <span lang={each}>{languageNames[each]}</span>,
    onSelect: () => chooseLanguage(each),
  }))
}

/** With what else there is for the person. */
export function PreferencesMenu({ head, items = [] }: Partial<Pick<MenuProps, 'head' | 'items'>>) {
  const chosen = useTheme()
  const Icon = icons[chosen]
  return (
    <Menu
      label={t('ui.preferences')}
      trigger={
        <IconButton label={t('ui.preferences')}>
          <Icon aria-hidden />
        </IconButton>
      }
      head={head}
      items={[...useThemeItems(), ...languageItems(), ...items]}
    />
  )
}

/** For a page without a menu. */
export function LanguageLinks() {
  return otherLanguages.map((each) => (
    <Button key={each} look="quiet" onClick={() => chooseLanguage(each)}>
      <Languages aria-hidden /> <span lang={each}>{languageNames[each]}</span>
    </Button>
  ))
}
