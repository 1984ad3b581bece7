/** Models with their prices and margins, the versions of prices, imports, and the catalogue as a file. */
import { useSearch } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { Tab } from './address.ts'
import { Catalogue } from './catalogue.tsx'
import { ImportPrices } from './import-prices.tsx'
import { ModelList } from './model-list.tsx'
import { PriceList } from './price-list.tsx'
import './models.css'

const contents: Readonly<Record<Tab, readonly [string, () => React.ReactNode]>> = {
  models: [t('models.tabs.models'), () => <ModelList />],
  prices: [t('models.tabs.prices'), () => <PriceList />],
  import: [t('models.tabs.import'), () => <ImportPrices />],
  catalogue: [t('models.tabs.catalogue'), () => <Catalogue />],
}

const tabs = (['models', 'prices', 'import', 'catalogue'] as const).map(
  (tab) => [tab, contents[tab][0]] as const,
)

export function Models() {
  const { tab = 'models' } = useSearch({ from: '/shell/models' })
  const [, show] = contents[tab]
  return (
    <Page title={t('models.title')} hint={t('models.hint')}>
      <Tabs label={t('models.title')} tabs={tabs} current={tab} />
      {show()}
    </Page>
  )
}
