/** Words of lists, in Chinese. */
import type { list as english } from '../en/list.ts'
import type { Translation } from '../translation.ts'

export const list = {
  any: '不限',
  clearAll: '全部清除',
  close: '关闭',
  columns: '列',
  denseRows: '紧凑行高',
  exportCsv: '导出 CSV',
  keyBefore: '列表中的上一行',
  keyNext: '列表中的下一行',
  keyOpen: '在列表旁打开该行',
  nameOrId: '名称或 ID',
  removeFilter: '移除筛选条件：{label}',
  roomyRows: '宽松行高',
  rows: '共 {count, number} 行',
  select: '选择 {name}',
  selectAll: '全选',
  selected: '已选择 {count, number} 项',
  selection: '已选择的行',
  selectNone: '取消选择',
  showMore: '显示更多',
  shown: '已显示 {count, number} 行',
  shownOf: '已显示 {shown, number} 行，共 {count, number} 行',
  usualColumns: '默认列',
} as const satisfies Translation<typeof english>
