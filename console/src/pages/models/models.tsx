/** Models with their prices and margins, the versions of prices, imports, and the catalogue as a file. */
import { useSearch } from '@tanstack/react-router'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { Tab } from './address.ts'
import { Catalogue } from './catalogue.tsx'
import { ImportPrices } from './import-prices.tsx'
import { ModelList } from './model-list.tsx'
import { PriceList } from './price-list.tsx'
import './models.css'

const names: readonly (readonly [Tab, string])[] = [
  ['models', 'Models'],
  ['prices', 'Price versions'],
  ['import', 'Import prices'],
  ['catalogue', 'Catalogue file'],
]

const contents: Readonly<Record<Tab, () => React.ReactNode>> = {
  models: () => <ModelList />,
  prices: () => <PriceList />,
  import: () => <ImportPrices />,
  catalogue: () => <Catalogue />,
}

export function Models() {
  const { tab = 'models' } = useSearch({ from: '/shell/models' })
  return (
    <Page title="Models and prices" hint="Prices are in USD per million tokens.">
      <Tabs label="Models and prices" tabs={names} current={tab} />
      {contents[tab]()}
    </Page>
  )
}
