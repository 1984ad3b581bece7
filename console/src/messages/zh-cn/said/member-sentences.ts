/** What the gateway says of members and their keys, in Chinese, by its English sentences. */
export const memberSentences = {
  'must have printable characters': '必须是可打印字符',
  'must be key, because you see your own keys only': '必须是 key，因为您只能看到自己的密钥',
  'must be the id of one of your keys': '必须是您自己的某个密钥的 ID',
  'The members of this account have {count} keys already. Revoke one that is not needed.':
    '此账户的成员已有 {count} 个密钥。请吊销不需要的密钥。',
  'must not be more than {most}, the limit of the account': '不能超过账户的限额 {most}',
  'Members sign in by mail, and the {noun} {settings} {verb} missing. Set {it}, then invite again.':
    '成员通过邮件登录，而缺少设置 {settings}。请设置后再邀请。',
  'this gateway sends no mail; tell the person to sign in on the account page':
    '此网关不发送邮件；请告知此人在账户页面登录',
  'must be the id of one of the accounts in the answer': '必须是响应中某个账户的 ID',
  'must be an address at {domains}': '必须是 {domains} 的邮箱地址',
  'must be an e-mail address such as ann@customer.example':
    '必须是邮箱地址，例如 ann@customer.example',
  'The account {name} is closed and gets no members.': '账户 {name} 已关闭，不能添加成员。',
  'The account has {count} members already. Remove one that is not needed.':
    '账户已有 {count} 个成员。请移除不需要的成员。',
  '{email} has the role {role} in this account already. Change the role of {id} instead.':
    '{email} 在此账户中已有角色 {role}。请改为更改 {id} 的角色。',
  '{email} was invited less than an hour ago. Try again later.':
    '{email} 在一小时内已被邀请。请稍后再试。',
  '{count} people were invited within a day. Try again tomorrow.':
    '一天内已邀请 {count} 人。请明天再试。',
  'The provider has not verified an e-mail address of yours. Verify it there, then sign in again.':
    '提供方尚未验证您的邮箱地址。请在该处验证后重新登录。',
  'No account here has a member with the address {email}. Ask for an invitation to it.':
    '此处没有账户的成员使用邮箱地址 {email}。请用该地址申请邀请。',
  'This sign-in was begun in another browser, at another address or over 15 minutes ago, or its answer has been used. Begin again.':
    '此次登录是在其他浏览器或其他地址开始的，或已超过 15 分钟，或其结果已被使用。请重新开始。',
  '{host} has not signed you in: {word}. Begin again.': '{host} 未能使您登录：{word}。请重新开始。',
  'Signing in with {host} does not work now. Try again later.':
    '目前无法通过 {host} 登录。请稍后重试。',
  '{host} gives you no role here: no value of its claim {claim} has one.':
    '{host} 未给您此处的角色：其声明 {claim} 的值没有对应的角色。',
  'must be revoke or keep': '必须是 revoke 或 keep',
  '{name} is the last owner of the account. Make another member an owner first, or ask the operator.':
    '{name} 是账户的最后一个所有者。请先将另一成员设为所有者，或联系运营方。',
  'cursor: must be the next_cursor of a page': 'cursor：必须是某一页的 next_cursor',
}
