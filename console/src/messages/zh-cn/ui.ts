/** Words of the parts that both pages are made of, in Chinese. */
import type { ui as english } from '../en/ui.ts'
import type { Translation } from '../translation.ts'

export const ui = {
  preferences: '主题和语言',
  dismiss: '关闭',
  themes: { system: '跟随系统', light: '浅色主题', dark: '深色主题' },
  close: '关闭',
  cancel: '取消',
  signInWith: '用 {provider} 登录',
  loss: {
    typed: '放弃已输入的内容？',
    typedText: '内容尚未保存。',
    typedCancel: '继续编辑',
    secret: '不保存密钥就离开？',
    secretText: '之后不再显示：请先复制或下载。',
    secretCancel: '留在此页',
    discard: '放弃',
  },
  others: {
    changed: '其间另一位运营人员已做了修改。您输入的内容已保留；请核对两者，然后重新保存。',
    typed: '；您输入的是',
    use: '采用对方的',
  },
  ofLimit: '/ {limit}',
  budgetTip: '{period}：{used} / {limit}',
  units: {
    ms: '{value} 毫秒',
    s: '{value} 秒',
    min: '{value} 分钟',
    h: '{value} 小时',
    d: '{value} 天',
  },
  age: { now: '刚刚', past: '{time}前', to: '{time}后' },
  value: {
    exactly: '精确值 {amount}',
    never: '从未',
    unknown: '未知',
    unmeasured: '未测量',
  },
  copy: {
    copy: '复制',
    done: '已复制',
    once: '请立即复制：之后不再显示。复制或下载后才能关闭此对话框。',
    download: '下载 .env',
    downloadCsv: '下载 CSV',
    finish: '完成',
  },
  state: {
    loading: '加载中…',
    requestId: '请求 ID：',
    again: '重试',
    failed: '此页面出错。请重新加载；若仍出错，请查看网关日志。',
    answered: '网关返回了 {status}。',
    noAnswer: '网关没有响应。请检查网关是否在运行，以及此地址是否正确。',
  },
  vendorError: {
    said: '供应商返回的错误：',
    type: '类型',
    code: '代码',
    param: '参数',
  },
} as const satisfies Translation<typeof english>
