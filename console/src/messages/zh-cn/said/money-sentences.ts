/** What the gateway says of top-up codes and payments, in Chinese, by its English sentences. */
export const moneySentences = {
  'This gateway takes no payments. Ask the operator for a top-up.':
    '此网关不接受支付。请联系运营方充值。',
  'must be whole cents from {least} to {most} USD': '必须是 {least} 到 {most} 美元之间的整数美分',
  'The account is closed and takes no payments.': '账户已关闭，不接受支付。',
  'must be the text of a file': '必须是文件的文本',
  'row {row} has no amount in gross': '第 {row} 行的 gross 没有金额',
  'is not a CSV file with a heading': '不是带有标题行的 CSV 文件',
  'must be the itemized balance report, with the columns {columns}':
    '必须是逐项余额报告，含有列 {columns}',
  'must be a top-up code': '必须是充值码',
  'is incomplete or has a typing error; copy it whole, tc_ included':
    '不完整或有输入错误；请完整复制，包括 tc_',
  'There is no such code. Check it, or ask for another one.':
    '没有这个充值码。请检查，或索取另一个。',
  'The account is {status} and takes no codes. The code stays as it is.':
    '账户当前的状态（{status}）不能兑换充值码。充值码保持不变。',
  'This code has no amount: it invites to sign up. It stays as it is.':
    '此充值码没有金额，仅用于邀请注册。充值码保持不变。',
  'This code has been redeemed before.': '此充值码已被兑换。',
  'This code has been revoked.': '此充值码已被吊销。',
  'This code expired on {day} UTC.': '此充值码已于 {day}（UTC）过期。',
  'The code {id} has been redeemed. To take the money back, use: turnpike account credit NAME -USD --reference REF':
    '充值码 {id} 已被兑换。若要收回款项，请为账户入一笔负数的账。',
  'There is no batch or code {id}. List the batches with: turnpike code list':
    '没有批次或充值码 {id}。批次列表：turnpike code list',
}
