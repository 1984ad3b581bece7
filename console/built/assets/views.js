import{__toESM as e}from"./rolldown-runtime.js";import{Badge as t,Button as n,Card as r,Columns as i,Count as a,Download as o,DraftForm as s,Duration as c,Empty as l,Facts as u,Missing as d,NewForm as f,Notice as p,Printer as ee,Problem as te,SelectField as ne,Shown as m,Stack as h,TextField as re,Time as g,Usd as _,choiceField as v,dayPresets as ie,describeFailure as ae,formatInteger as oe,formatUsdExact as y,hasRange as se,keepPreviousData as ce,languageNames as le,languages as ue,periodOf as de,queryOptions as fe,require_jsx_runtime as pe,require_react as me,scaleUsd as b,t as x,textAreaField as he,textField as S,usdField as ge,usdText as C,useMutation as _e,useNow as ve,useQuery as w}from"./shared.js";import{Acts as T,BillTable as ye,Budgets as be,CopyButton as xe,CopyId as Se,Filters as Ce,KeySecret as we,List as E,RowFacts as Te,SecretAfter as Ee,SheetHead as D,Snippet as De,StatementFigures as Oe,VendorErrorNotice as ke,actionWords as Ae,className as je,defineList as O,givenOf as Me,inPriceOrder as Ne,keyFieldsOf as Pe,keyInputs as Fe,outcomeTones as k,shortVendorError as Ie,statementList as Le}from"./lists.js";import{Limits as Re,ViewLink as A,accountQuery as ze,addressText as Be,ask as Ve,call as j,goTo as M,keysQuery as He,modelNamesQuery as Ue,nullable as N,number as We,operatorQuery as P,pageOf as Ge,pricesQuery as F,receiptQuery as Ke,record as I,requestQuery as qe,roleForm as Je,roles as Ye,statementQuery as Xe,text as L,truth as Ze,useAccount as Qe,useAddress as R,useProofs as $e,useReceipts as et,useRequests as tt,useRole as z}from"./holder.js";import{RangePicker as nt,useDays as rt,useList as it}from"./common.js";var B=pe(),at=I({id:L,email:L,role:Je,signed_in_at:N(L)}),ot=fe({queryKey:[`account`,`members`],queryFn:async()=>(await j(`GET /members`,Ge(at))).items}),st=O({name:`account-page-members`,caption:x(`account.tabs.people`),rowKey:({id:e})=>e,rowName:({email:e})=>e,columns:[{id:`email`,name:x(`members.email`),cell:({email:e})=>e},{id:`role`,name:x(`members.role`),cell:({role:e})=>x(`members.roles.${e}`)},{id:`seen`,name:x(`members.signedIn`),cell:e=>(0,B.jsx)(g,{at:e.signed_in_at})},{id:`actions`,name:x(`members.actions`),isAction:!0,cell:e=>(0,B.jsx)(mt,{of:e},e.id)}],empty:(0,B.jsx)(l,{title:x(`members.noMember`)})}),ct={email:S(x(`members.email`),{isRequired:!0,input:{type:`email`}}),role:v(x(`members.role`),Ye.map(e=>[e,x(`members.roles.${e}`)]),{initial:`member`,hint:x(`members.rolesHint`)})},lt=I({email:L,mail_problem:N(L)}),ut={text:x(`members.invite`),form:()=>(0,B.jsx)(f,{fields:ct,action:x(`members.invite`),send:({draft:e})=>j(`POST /members`,lt,e),toast:({email:e,mail_problem:t})=>x(`members.isInvited`,{email:e,problem:t??`none`})})};function dt(){let{data:e,error:t,refetch:n}=w(ot);return(0,B.jsx)(E,{of:st,title:x(`account.tabs.people`),hint:x(`members.peopleHint`),list:{rows:e,error:t,retry:()=>void n()},actions:(0,B.jsx)(T,{acts:[ut]})})}var ft=[`revoke`,`keep`].map(e=>[e,x(`members.ways.${e}`)]),pt={keys:v(x(`members.theirKeys`),ft,{initial:`revoke`})};function mt({of:{id:e,email:t,role:n}}){let r=n===`owner`?`member`:`owner`,i=`/members/${e}`,a={text:x(`members.make.${r}`),title:x(`members.makeTitle.${r}`,{email:t}),hint:x(`members.makeText.${r}`),form:()=>(0,B.jsx)(f,{fields:{},action:x(`members.make.${r}`),send:()=>j(`PATCH ${i}`,I({}),{role:r})})},o={text:x(`members.remove`),title:x(`members.removeTitle`,{email:t}),hint:x(`members.removeHint`),isDanger:!0,form:()=>(0,B.jsx)(f,{fields:pt,action:x(`members.remove`),send:({draft:{keys:e}})=>j(`DELETE ${i}?keys=${e}`,I({})),toast:()=>x(`members.isRemoved`,{email:t})})};return(0,B.jsx)(T,{menu:x(`members.actionsOf`,{name:t}),acts:[a,o]})}var ht=I({at:L,sequence:We,email:N(L),action:L,subject:L,subject_name:N(L)}),gt=O({name:`account-page-activity`,caption:x(`account.tabs.activity`),rowKey:({sequence:e})=>String(e),rowName:({action:e})=>Ae(e),columns:[{id:`time`,name:x(`account.time`),place:`note`,cell:({at:e})=>(0,B.jsx)(g,{at:e})},{id:`by`,name:x(`members.by`),place:`state`,cell:e=>e.email??x(`members.operator`)},{id:`action`,name:x(`members.action`),place:`name`,cell:e=>Ae(e.action)},{id:`subject`,name:x(`members.subject`),cell:e=>e.subject_name??e.subject}],empty:(0,B.jsx)(l,{title:x(`members.noActivity`)})});function _t(){let e=it([`account`,`activity`],({cursor:e=``})=>j(`GET /activity${e&&`?cursor=${e}`}`,Ge(ht)));return(0,B.jsx)(E,{of:gt,title:x(`account.tabs.activity`),hint:x(`members.activityHint`),list:e})}var vt=I({contact:L,language:L,alert_below_usd:L,bill_to:L}),yt=fe({queryKey:[`account`,`details`],queryFn:()=>j(`GET /details`,vt)}),bt={contact:S(x(`members.contact`),{hint:x(`members.contactHint`)}),alert_below_usd:ge(x(`members.alertBelow`),{hint:x(`members.alertBelowHint`)}),language:v(x(`members.language`),ue.map(e=>[e,le[e]]),{initial:`en`}),bill_to:he(x(`members.billTo`),{hint:x(`members.billToHint`)})};function xt(){return(0,B.jsx)(r,{title:x(`account.tabs.details`),children:(0,B.jsx)(m,{query:w(yt),children:e=>(0,B.jsx)(s,{fields:bt,read:e,valuesOf:e=>e,readAgain:()=>Promise.resolve(e),action:x(`members.save`),send:({changes:e})=>j(`PATCH /details`,vt,e),toast:()=>x(`members.saved`)},JSON.stringify(e))})})}var St={active:`good`,expired:`warn`},V=({name:e,head:t})=>e===``?t:e;function Ct(e){return e===`active`||e===`expired`||e===`revoked`?x(`account.states.${e}`):e}var H=[{id:`name`,name:x(`account.key`),place:`name`,cell:V,value:V},{id:`head`,name:x(`account.head`),place:`note`,cell:({head:e})=>(0,B.jsx)(`code`,{children:e})},{id:`state`,name:x(`account.state`),place:`state`,cell:({state:e})=>(0,B.jsx)(t,{tone:St[e]??`neutral`,children:Ct(e)}),value:({state:e})=>e},U(`day_usd`,x(`account.periods.day`)),{...U(`month_usd`,x(`account.periods.month`)),place:`amount`},U(`total_usd`,x(`account.periods.total`)),{id:`limits`,name:x(`account.limits`),cell:e=>(0,B.jsx)(be,{of:wt(e),empty:(0,B.jsx)(d,{why:x(`account.noLimits`)})})},{id:`models`,name:x(`account.models`),room:`wide`,cell:({models:e})=>e?.join(`, `)??x(`account.all`),value:({models:e})=>e?.join(` `)??`all`},{id:`expires`,name:x(`account.expires`),room:`wide`,cell:({expires_at:e})=>(0,B.jsx)(g,{at:e}),value:({expires_at:e})=>e}];function U(e,t){let n=t=>C(t.used[e]);return{id:e,name:t,isNumber:!0,cell:e=>(0,B.jsx)(_,{value:n(e),places:2}),value:n}}function wt({limits:e,used:t}){let n=t=>C(e.find(e=>e.period===t)?.limit_usd??0);return{daily_usd:n(`day`),monthly_usd:n(`month`),total_usd:n(`total`),used:{day_usd:C(t.day_usd),month_usd:C(t.month_usd),total_usd:C(t.total_usd)}}}var Tt=O({name:`account-page-keys`,caption:x(`account.keysOf`),columns:H,rowKey:({id:e})=>e,rowName:V,Sheet:Et,empty:(0,B.jsx)(l,{title:x(`account.noKey`)})});function Et({row:e}){let t=z();return e===void 0?(0,B.jsx)(D,{title:x(`account.key`)}):(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(D,{title:V(e),hint:(0,B.jsx)(A,{to:{view:`requests`,key:e.id},children:x(`account.requestsOfKey`)})}),e.limits.length+e.rpm+e.tpm>0&&(0,B.jsx)(Re,{of:e,children:e=>e!==``&&(0,B.jsx)(`p`,{className:`soft`,children:e})}),(0,B.jsx)(Te,{row:e,columns:Pt[t].filter(({id:e})=>e!==`limits`)})]})}var Dt=Pe(Ue),Ot=I({secret:N(L)}),kt={text:x(`members.newKey`),form:e=>(0,B.jsx)(Ee,{made:t=>(0,B.jsx)(At,{secret:t,onDone:e}),children:e=>(0,B.jsx)(f,{fields:Dt,action:x(`members.makeKey`),send:({changes:e,once:t})=>j(`POST /keys`,Ot,Me(e),t),onDone:e,children:Fe})})};function At({secret:e,onDone:t}){let{data:n}=w(F),r=[...new Map(n?.prices.map(({vendor:e,format:t})=>[e,t]))].map(([e,t])=>({name:e,format:t}));return(0,B.jsx)(we,{secret:e,vendors:r,address:location.origin,onDone:t,children:(0,B.jsx)(`a`,{href:Be({view:`setup`}),target:`_blank`,rel:`noreferrer`,children:x(`account.setUpClient`)})})}function jt({of:e}){let t=z()===`owner`,n=`/keys/${e.id}`,r=V(e),i={...e,...wt(e),expires:e.expires_at},a={text:x(`members.keyActions.edit`),title:x(`members.editKey`,{name:r}),form:()=>(0,B.jsx)(s,{fields:Dt,read:i,valuesOf:e=>e,readAgain:()=>Promise.resolve(i),action:x(`members.save`),send:({changes:e})=>j(`PATCH ${n}`,I({}),e),toast:()=>x(`members.keyChanged`),children:Fe})},o={text:x(`members.keyActions.rotate`),title:x(`members.rotateTitle`,{name:r}),hint:x(`members.rotateText`),form:e=>(0,B.jsx)(Ee,{made:t=>(0,B.jsx)(At,{secret:t,onDone:e}),children:e=>(0,B.jsx)(f,{fields:{},action:x(`members.keyActions.rotate`),send:({once:e})=>j(`POST ${n}/rotate`,Ot,void 0,e),onDone:e})})},c={text:x(`members.keyActions.revoke`),title:x(`members.revokeTitle`,{name:r}),hint:x(`members.revokeText`),isDanger:!0,form:()=>(0,B.jsx)(f,{fields:{},action:x(`members.keyActions.revoke`),send:()=>j(`DELETE ${n}`,I({})),toast:()=>x(`members.isRevoked`,{name:r})})},l=t?[a,o,c]:[c];return(0,B.jsx)(T,{menu:x(`members.actionsOf`,{name:r}),acts:l})}function Mt({state:e}){return e===`active`?0:1}var Nt={id:`actions`,name:x(`members.actions`),isAction:!0,cell:e=>e.state===`active`&&(0,B.jsx)(jt,{of:e},e.id)},Pt={reader:H,member:[...H,Nt],owner:[...H,{id:`member`,name:x(`members.member`),cell:e=>(0,B.jsx)(Ft,{id:e.member_id})},Nt]};function Ft({id:e}){let{data:t}=w(ot);return e===null?x(`account.account`):t?.find(t=>t.id===e)?.email??e}function It(){let e=z(),{data:t,error:n,refetch:r}=w(He),i=t?.toSorted((e,t)=>Mt(e)-Mt(t));return(0,B.jsx)(E,{of:{...Tt,columns:Pt[e]},title:x(`account.tabs.keys`),hint:x(`members.keysHints.${e}`),list:{rows:i,error:n,retry:()=>void r()},actions:e!==`reader`&&(0,B.jsx)(T,{acts:[kt]}),file:`keys`})}var W=e(me(),1);function Lt(){return(0,B.jsx)(m,{query:w(F),children:e=>(0,B.jsx)(Rt,{...e})})}function Rt({multiplier:e,prices:t}){let[n,r]=(0,W.useState)(),i=(n??``).trim().toLowerCase(),a=t.filter(({model:e})=>e.toLowerCase().includes(i)),o=zt({multiplier:e,prices:t});return(0,B.jsxs)(B.Fragment,{children:[e!==`1`&&(0,B.jsx)(p,{tone:`accent`,children:x(`account.youPay`,{factor:e})}),(0,B.jsx)(Ce,{filters:[{kind:`text`,name:`model`,label:x(`account.model`)}],values:{model:n},onChange:({model:e})=>r(e)}),(0,B.jsx)(E,{of:{name:`account-page-prices`,caption:x(`account.tabs.prices`),columns:o,rowKey:({model:e})=>e,rowName:({model:e})=>e,empty:(0,B.jsx)(l,{title:x(`account.noPrice`)})},title:x(`account.tabs.prices`),hint:x(`account.pricesHint`),list:{rows:a},file:`prices`})]})}function zt({multiplier:e,prices:t}){let n=new Set(t.flatMap(({price:e})=>Object.keys(e))),r=Ne(n).filter(e=>t.some(({price:t})=>G(t,e)!==void 0)),i=t.every(({price:t})=>K(t,e).length===0);return[{id:`model`,name:x(`account.model`),place:`name`,cell:({model:e})=>(0,B.jsx)(`strong`,{children:e}),value:({model:e})=>e},{id:`vendor`,name:x(`account.vendor`),place:`note`,cell:({vendor:e})=>e,value:({vendor:e})=>e},...r.map(t=>Vt(t,e)),...i?[]:[Bt(e)]]}function Bt(e){return{id:`further`,name:x(`account.further`),cell:({price:t})=>{let n=K(t,e);return n.length===0?(0,B.jsx)(d,{why:x(`account.noFurther`)}):n.map(e=>(0,B.jsx)(`div`,{className:`soft small`,children:e},e))},value:({price:t})=>K(t,e).join(`; `)}}function Vt(e,t){return{id:e,name:e===`request`?x(`account.eachRequest`):je(e),isNumber:!0,...e===`input`&&{place:`amount`},cell:({price:n})=>{let r=G(n,e);if(r===void 0)return(0,B.jsx)(d,{why:x(`account.notOffered`)});let i=b(r,t),a=x(`account.listPrice`,{price:y(r),factor:t});return(0,B.jsx)(`data`,{value:i,"data-tip":t===`1`?void 0:a,children:y(i)})},value:({price:n})=>{let r=G(n,e);return r===void 0?null:b(r,t)}}}function G(e,t){let n=e[t];return typeof n==`number`?C(n):typeof n==`string`?n:void 0}function K(e,t){let n=q(e.long_context),r=G(n,`above`),i=[[`tiers`,`tier`],[`speeds`,`speed`],[`geos`,`region`]];return[...r===void 0?[]:[x(`account.above`,{count:oe(Number(r)),prices:Ht(n,t)})],...i.flatMap(([n,r])=>Object.entries(q(e[n])).map(([e,n])=>{let i=q(n),a=G(i,`multiplier`),o=a===void 0?Ht(i,t):`× ${a}`;return x(`account.groups.${r}`,{name:e,prices:o})}))]}function Ht(e,t){return Ne(Object.keys(e)).flatMap(n=>{let r=n===`above`?void 0:G(e,n);return r===void 0?[]:[`${je(n)} ${y(b(r,t))}`]}).join(`, `)}function q(e){return typeof e==`object`&&e?Object.fromEntries(Object.entries(e)):{}}var Ut=O({name:`account-page-receipts`,caption:x(`account.tabs.receipts`),rowKey:({number:e})=>e,columns:[{id:`number`,name:x(`account.receipt`),place:`name`,cell:({number:e})=>(0,B.jsx)(A,{to:{view:`receipts`,receipt:e},children:e})},{id:`time`,name:x(`account.time`),place:`note`,cell:({at:e})=>(0,B.jsx)(g,{at:e})},{id:`reference`,name:x(`account.reference`),cell:({reference:e})=>e},{id:`amount`,name:x(`figures.amount`),isNumber:!0,cell:({amount:e})=>(0,B.jsx)(_,{value:e,places:2})}],empty:(0,B.jsx)(l,{title:x(`account.noReceipt`)})});function Wt(){let{receipt:e}=R(),t=et(),n=w({...Ke(e),enabled:e!==void 0}),r=(0,B.jsx)(l,{title:x(`account.noReceipt`)});if(e!==void 0)return(0,B.jsx)(m,{query:n,children:e=>e===null?r:(0,B.jsx)(Gt,{of:e})});let i=x(`account.receiptsHint`);return(0,B.jsx)(E,{of:Ut,title:x(`account.tabs.receipts`),hint:i,list:t})}function Gt({of:{number:e,reverses:t,at:n,tax_percent:i,account:a,...o}}){let s=qt(i),c=o.amount.startsWith(`-`),l=e=>(0,B.jsx)(_,{value:e,places:2},e);return(0,B.jsx)(r,{title:`${x(c?`account.creditNote`:`account.receipt`)} ${e}`,hint:x(`account.receiptOf`,{day:n.slice(0,10)}),actions:(0,B.jsx)(Jt,{}),children:(0,B.jsxs)(h,{children:[(0,B.jsx)(Kt,{account:a}),(0,B.jsx)(u,{items:[...t===null?[]:[[x(`account.takesBack`),t]],[x(`account.reference`),o.reference],...s===void 0?[]:[[x(`account.net`),l(o.net)]],...s===void 0?[]:[[s,l(o.tax)]],[x(c?`figures.amount`:`account.paidInAll`),l(o.amount)]]})]})})}function Kt({account:e}){let{data:t}=w(P),n=[[x(`account.by`),[t?.name??location.host,t?.address]],[x(`account.for`),[e?.name,e?.bill_to]]];return(0,B.jsx)(i,{children:n.map(([e,t])=>(0,B.jsxs)(`div`,{children:[(0,B.jsx)(`div`,{className:`soft small`,children:e}),(0,B.jsx)(`div`,{className:`break lines`,children:t.filter(Boolean).join(`
`)})]},e))})}function qt(e){let t=w(P).data?.tax,n=e??t?.percent??0;if(n!==0)return[x(`account.taxLine`,{percent:String(n)}),t?.note??[]].flat().join(`, `)}function Jt(){return(0,B.jsxs)(n,{onClick:()=>print(),children:[(0,B.jsx)(ee,{"aria-hidden":!0}),` `,x(`account.print`)]})}function J(e){return e in k}var Yt=(0,B.jsx)(d,{why:x(`account.noModel`)}),Xt=[{id:`time`,name:x(`account.time`),place:`note`,cell:({started_at:e})=>(0,B.jsx)(g,{at:e}),value:({started_at:e})=>e},{id:`model`,name:x(`account.model`),place:`name`,cell:({model:e})=>e??Yt,value:({model:e})=>e},{id:`key`,name:x(`account.key`),cell:({key_id:e})=>(0,B.jsx)(Zt,{id:e}),value:({key_id:e})=>e},{id:`outcome`,name:x(`account.outcome`),place:`state`,cell:e=>(0,B.jsx)($t,{row:e}),value:({outcome:e})=>e},Y(`input`,({input_tokens:e})=>e),Y(`output`,({output_tokens:e})=>e),Y(`cache`,({cache_tokens:e})=>e),{id:`cost`,name:x(`account.cost`),isNumber:!0,sort:`cost`,place:`amount`,cell:({cost:e})=>(0,B.jsx)(_,{value:e,places:6}),value:({cost:e})=>e},{id:`label`,name:x(`account.label`),isExtra:!0,cell:({label:e})=>e,value:({label:e})=>e}];function Y(e,t){return{id:e,name:x(`account.tokens.${e}`),isNumber:!0,cell:e=>(0,B.jsx)(a,{value:t(e)}),value:t}}function X(){let{data:e=[]}=w(He);return new Map(e.map(({id:e,name:t,head:n})=>[e,t===``?n:t]))}function Zt({id:e}){return X().get(e)??e}function Qt({of:e}){return J(e)?(0,B.jsx)(t,{tone:k[e],children:x(`account.outcomes.${e}`)}):(0,B.jsx)(t,{children:e})}function $t({row:{outcome:e,status:t,requests:n,vendor_error:r}}){return(0,B.jsxs)(`span`,{className:`row`,children:[(0,B.jsx)(Qt,{of:e}),t>=400&&(0,B.jsx)(`span`,{className:`soft`,children:t}),r!==null&&(0,B.jsx)(`span`,{className:`soft break`,children:Ie(r)}),n>1&&(0,B.jsx)(`span`,{className:`soft`,children:x(`account.times`,{count:n})})]})}var en=O({name:`account-page-requests`,caption:x(`account.requestsOf`),columns:Xt,rowKey:({id:e})=>e,Sheet:ln,opener:({id:e},t)=>(0,B.jsx)(tn,{id:e,children:t}),empty:(0,B.jsx)(l,{title:x(`account.noRequests`),children:(0,B.jsx)(A,{to:{view:`setup`},children:x(`account.setUpClient`)})}),emptyFiltered:(0,B.jsx)(l,{title:x(`account.noneFits`),children:(0,B.jsx)(A,{to:{view:`requests`},children:x(`account.showAll`)})})});function tn({id:e,children:t}){return(0,B.jsx)(`a`,{href:Be({...R(),request:e}),"data-open":!0,children:t})}var nn=6e4;function rn(){let e=R(),{key:t,model:n,outcome:r,sort:i,request:a}=e,o=ve(nn),s=se(e)?de(e,{unit:`day`,nowMs:o,usual:`30d`}):{},c=tt({key:t,model:n,outcome:r,sort:i,...s}),l=X(),u=Xt.map(e=>e.id===`key`?{...e,value:({key_id:e})=>l.get(e)??e}:e);return(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(an,{}),(0,B.jsx)(E,{of:{...en,columns:u},title:x(`account.tabs.requests`),hint:x(i===`cost`?`account.dearestFirst`:`account.newestFirst`),isFiltered:se(e)||[t,n,r].some(e=>e!==void 0),list:c,sort:i===`cost`?{by:`cost`,order:`desc`}:void 0,onSort:({order:t})=>M({...e,sort:t===`desc`?`cost`:void 0}),open:a,onOpen:t=>M({...e,request:t}),file:`requests`})]})}function an(){let e=R(),t=X(),{data:n}=w(F),r=t=>M({...e,...t,request:void 0},{replaces:!0}),{key:i,model:a}=e,o=(n?.prices??[]).map(e=>[e.model,e.model]);return(0,B.jsxs)(Ce,{filters:[Z(`key`,x(`account.allKeys`),sn([...t],i)),Z(`model`,x(`account.allModels`),sn(o,a)),Z(`outcome`,x(`account.allOutcomes`),on)],values:e,onChange:r,children:[(0,B.jsx)(nt,{value:e,unit:`day`,presets:ie,quick:[`today`,`yesterday`],usual:{name:x(`account.anyTime`)},onChange:r}),(0,B.jsx)(cn,{})]})}var on=Object.keys(k).filter(J).map(e=>[e,x(`account.outcomes.${e}`)]);function Z(e,t,n){return{kind:`choice`,name:e,label:x(`account.${e}`),any:t,options:n}}function sn(e,t){return t===void 0||e.some(([e])=>e===t)?e:[...e,[t,t]]}function cn(){let e=R(),[t,r]=(0,W.useState)(``);return(0,B.jsxs)(`form`,{className:`row row-end`,onSubmit:n=>{n.preventDefault(),t.trim()!==``&&M({...e,request:t.trim()})},children:[(0,B.jsx)(re,{label:x(`account.requestId`),placeholder:x(`account.idExample`),value:t,onChange:r}),(0,B.jsx)(n,{type:`submit`,children:x(`account.open`)})]})}function ln({id:e}){return(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(D,{title:x(`account.request`)}),(0,B.jsx)(m,{query:w(qe(e)),rows:8,children:e=>(0,B.jsx)(un,{request:e})})]})}function un({request:e}){let{vendor_error:t,estimated:n,requests:i}=e;return(0,B.jsxs)(h,{children:[(0,B.jsxs)(`div`,{className:`row`,children:[(0,B.jsx)(Qt,{of:e.outcome}),(0,B.jsx)(`span`,{children:dn(e)})]}),t!==null&&(0,B.jsx)(ke,{error:t}),(0,B.jsx)(r,{children:(0,B.jsx)(u,{items:fn(e)})}),(0,B.jsx)(r,{title:x(`account.cost`),isFlush:e.bill!==null,children:(0,B.jsx)(pn,{request:e})}),n&&(0,B.jsx)(p,{children:x(`account.estimated`)}),i>1&&(0,B.jsx)(p,{children:x(`account.standsFor`,{count:i})}),(0,B.jsx)(r,{title:x(`account.forSupport`),children:(0,B.jsx)(u,{items:mn(e)})})]})}function dn({outcome:e,explanation:t}){if(!J(e))return t;let n=/\bis charged\b/.test(t);return[x(`account.explained.${e}`),...n?[x(`account.notFree`)]:[]].join(` `)}function fn(e){let{model:t,key:n,key_id:r,operation:i,status:a,code:o,stream:s}=e,{finish_reason:l}=e,u=Date.parse(e.ended_at)-Date.parse(e.started_at),f=s===null?`none`:s?`streamed`:`whole`;return[[x(`account.model`),t??Yt],[x(`account.key`),n??r],[x(`account.began`),(0,B.jsx)(g,{at:e.started_at},`began`)],[x(`account.took`),(0,B.jsx)(c,{ms:u},`took`)],[x(`account.firstEvent`),(0,B.jsx)(c,{ms:e.first_event_ms},`first`)],[x(`account.status`),o===null?a:[`${a} `,(0,B.jsx)(`code`,{children:o},`code`)]],[x(`account.operation`),i??(0,B.jsx)(d,{why:x(`account.noOperation`)})],[x(`account.answer`),x(`account.answers.${f}`)],...l===null?[]:[[x(`account.finishReason`),(0,B.jsx)(`code`,{children:l},`reason`)]]]}function pn({request:{bill:e,cost:t,refund:n,paid:r}}){return e===null?(0,B.jsx)(`p`,{className:`soft`,children:/[1-9]/.test(t)?x(`account.noDetails`,{cost:y(t)}):x(`account.costNothing`)}):(0,B.jsx)(ye,{bill:e,cost:t,refund:n===null?void 0:{...n,paid:r}})}function mn({id:e,vendor_request_id:t}){let n=e=>(0,B.jsx)(Se,{text:e,label:x(`ui.copy.copy`)},e);return[[x(`account.requestId`),n(e)],...t===null?[]:[[x(`account.vendorId`),n(t)]]]}var hn=`# aider

Run by hand with aider 0.86.2 on 2026-11-22: it edited a file, streamed. The tests do not run it, because its
installation has more than 600 MB.

## Set and run

The name of the model is \`openai/\` and a model of your gateway's catalogue.

\`\`\`sh
export OPENAI_API_BASE=http://127.0.0.1:8080/beta/v1
export OPENAI_API_KEY=cr_…
aider --model openai/chat-1 --message "Say good morning."
\`\`\`

## Know

- aider does not know the price and the window of such a model and says so; \`--no-show-model-warnings\` stops that.
- It does not send \`max_tokens\`. The gateway then holds the price of the longest answer that the model may give until
  the answer is complete.
- \`--analytics-disable\` and \`--no-check-update\` stop its traffic to other hosts, except for a list of prices that it
  reads from \`raw.githubusercontent.com\`. It works without that list.
`,gn=`# Claude Code

## Set and run

The models are those of your gateway's catalogue. Claude Code uses the second one for small tasks.

\`\`\`sh
export ANTHROPIC_BASE_URL=http://127.0.0.1:8080/alpha
export ANTHROPIC_AUTH_TOKEN=cr_…
export ANTHROPIC_MODEL=large-1
export ANTHROPIC_DEFAULT_HAIKU_MODEL=small-1
claude -p "Say good morning."
\`\`\`

## Know

- \`ANTHROPIC_API_KEY\` works in place of \`ANTHROPIC_AUTH_TOKEN\`. Set one of them.
- It prints the gateway's message when the balance is exhausted or the daily limit is reached, and stops after
  one attempt.
- \`ANTHROPIC_CUSTOM_HEADERS='x-turnpike-label: my-team'\` gives its requests a [label](../requests.md#labels), by which
  their cost is added up.
- \`CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\` stops its traffic to other hosts.

## What it asks of a gateway

Its makers list what a gateway has to do. \`test/e2e/claude-code-protocol.test.ts\` sends each row:

<!-- prettier-ignore -->
| it asks | Turnpike |
| --- | --- |
| \`POST /v1/messages?beta=true\` | Forwarded with its query. |
| \`POST /v1/messages/count_tokens\` | Forwarded, free. |
| \`HEAD /api/hello\` at its start | Answered at once. |
| unknown headers, betas and body fields unchanged | Forwarded byte for byte, unless a channel has \`drop_betas\`. |
| the vendor's errors unchanged | Status, headers and body of errors about the request pass. |
| \`GET /v1/models?limit=1000\` within 3 s, without a redirect | From the catalogue: the models that the key may use. |
| 400 \`invalid_request_error\` for a model that is not allowed | So, with the address of the list in its text. |
| pings and unknown events of a stream | Pass as they come. |
| a spend limit as 429 \`billing_error\` with unified headers, if any | Not done: a daily limit is a 429 \`rate_limit_error\` with \`x-should-retry: false\`, and its text says when it resets. |

Tested with \`@anthropic-ai/claude-code\` 2.1.329: it reads a file, edits it and runs a command, streamed.
`,_n=`# Cline

This page is about Cline's program for the command line.

## Set and run

\`\`\`sh
export TURNPIKE_KEY=cr_…
cline auth --provider openai-compatible --baseurl http://127.0.0.1:8080/beta/v1 --apikey "$TURNPIKE_KEY" --modelid chat-1
cline "Say good morning."
\`\`\`

In VS Code (not tested): in Cline's settings choose the API provider "OpenAI Compatible", and enter the same
address, key and model.

## Know

- Cline does not send \`max_tokens\`. The gateway then holds the price of the longest answer that the model may give
  until the answer is complete.
- \`"telemetryOptOut": true\` in \`~/.cline/data/settings/global-settings.json\` stops its telemetry. It still asks
  \`data.cline.bot\` for its feature switches, and works without an answer.

Tested with \`@cline/cli-linux-x64\` 3.0.65: it reads a file, edits it and runs a command, streamed.
`,vn=`# Codex CLI

## Set

Put this into \`~/.codex/config.toml\`. The model is one of your gateway's catalogue. Codex uses only the Responses
API, so the model's vendor must offer it.

\`\`\`toml
model = "chat-1"
model_provider = "turnpike"
web_search = "disabled"

[model_providers.turnpike]
name = "Turnpike"
base_url = "http://127.0.0.1:8080/beta/v1"
env_key = "TURNPIKE_KEY"
wire_api = "responses"
\`\`\`

## Run

\`\`\`sh
export TURNPIKE_KEY=cr_…
codex exec --skip-git-repo-check "Say good morning."
\`\`\`

## Know

- \`web_search = "disabled"\`: otherwise Codex offers the model a web search that the vendor runs. Each search costs
  what the [catalogue](../catalogue.md) says, 0.01 USD by default, and \`allow: [no_server_tools]\` refuses it.
- Codex sends \`store: false\` and its whole history each time, with reasoning that the vendor has encrypted. The
  gateway keeps such a session on the channel that can read it.
- It sends no \`max_output_tokens\`. The gateway then holds the price of the longest answer that the model may give
  until the answer is complete.
- It tries five times again after every error but 400, also after an exhausted balance, and then prints the gateway's
  message. \`stream_max_retries\` of the provider changes that number. At a limit in USD it stops at once and prints
  \`Quota exceeded\`, without the gateway's message.
- \`http_headers = { "x-turnpike-label" = "my-team" }\` of the provider gives its requests a
  [label](../requests.md#labels).
- It warns that it does not know a model of another name. Set \`model_context_window\` to the model's window.
- With \`openai_base_url\` in place of a provider (the key in \`CODEX_API_KEY\`) Codex tries a WebSocket first. The gateway
  answers 426, and Codex continues at once with plain requests.
- A long session is compacted. With a provider as above Codex asks the model for a summary. With \`openai_base_url\`
  it asks the vendor to compact (\`compaction_trigger\`), which not every vendor can do.
- \`plugins = false\` and \`apps = false\` under \`[features]\`, and \`enabled = false\` under \`[analytics]\`, stop its traffic to
  other hosts.

Tested with \`@openai/codex\` 0.169.0: it reads a file, edits it and runs a command, streamed.
`,yn=`# Continue

This page is about \`cn\`, Continue's program for the command line.

## Set

Put this into \`~/.continue/config.yaml\`. Continue's extensions for editors read the same file (not tested).

\`\`\`yaml
name: Turnpike
version: 1.0.0
schema: v1
models:
  - name: chat-1
    provider: openai
    model: chat-1
    apiBase: http://127.0.0.1:8080/beta/v1
    apiKey: cr_…
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: 200000
      maxTokens: 8192
\`\`\`

## Run

\`--auto\` lets it use its tools without asking.

\`\`\`sh
cn --config ~/.continue/config.yaml --auto -p "Say good morning."
\`\`\`

## Know

- \`maxTokens\` decides what the gateway holds for each request. Keep it at what you need.
- At its start it asks \`api.continue.dev\` for its newest version. It works without an answer.

Tested with \`@continuedev/cli\` 1.5.47: it reads a file, edits it and runs a command, streamed.
`,bn='# Open WebUI\n\nOpen WebUI is a server with a page for the browser.\n\n## Set\n\n```sh\nexport OPENAI_API_BASE_URL=http://127.0.0.1:8080/beta/v1\nexport OPENAI_API_KEY=cr_…\nexport ENABLE_OLLAMA_API=false\nopen-webui serve\n```\n\nIn its admin settings, under Connections, the same address and key do the same.\n\n## Know\n\n- Its server sends the requests: `GET /models` for the list, and `POST /chat/completions` for each answer. A connection\n  of the type "responses" uses `POST /responses` in place of the second.\n- It makes more requests for titles, tags and follow-up questions. `TASK_MODEL_EXTERNAL` names a cheaper model for\n  these; `ENABLE_TITLE_GENERATION=false`, `ENABLE_TAGS_GENERATION=false` and `ENABLE_FOLLOW_UP_GENERATION=false`\n  stop them.\n- `RAG_EMBEDDING_ENGINE=openai` and `RAG_EMBEDDING_MODEL` let it use `POST /embeddings` of the gateway.\n- Direct connections, which a user adds, come from the browser: `cors_origins` must name the address of Open WebUI.\n\nTested with `open-webui` 0.12.4, by hand: its server lists the models and answers, with either type of connection.\n',xn=`# opencode

## Set

Put this into \`~/.config/opencode/opencode.json\`. The models are those of your gateway's catalogue.

\`\`\`json
{
  "$schema": "https://opencode.ai/config.json",
  "model": "turnpike/chat-1",
  "small_model": "turnpike/chat-mini-1",
  "provider": {
    "turnpike": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Turnpike",
      "options": {
        "baseURL": "http://127.0.0.1:8080/beta/v1",
        "apiKey": "{env:TURNPIKE_KEY}"
      },
      "models": {
        "chat-1": { "limit": { "context": 200000, "output": 8192 } },
        "chat-mini-1": { "limit": { "context": 200000, "output": 8192 } }
      }
    }
  }
}
\`\`\`

## Run

\`\`\`sh
export TURNPIKE_KEY=cr_…
opencode run "Say good morning."
\`\`\`

## Know

- \`"npm": "@ai-sdk/openai"\` lets it use the Responses API in place of chat completions.
- \`"headers": { "x-turnpike-label": "my-team" }\` in \`options\` gives its requests a [label](../requests.md#labels).
- \`limit.output\` is the \`max_tokens\` of each request, and so what the gateway holds. Keep it at what you need.
- It asks again after every 429: at a limit in USD eight times, for one or two minutes, before it prints the message of
  the gateway.
- Each new session costs one more request: \`small_model\` gives it a title.
- At its start opencode asks \`registry.npmjs.org\` for one of its packages. It works without an answer.

Tested with \`opencode-linux-x64\` 1.18.33: with either API it reads a file, edits it and runs a command, streamed.
`,Sn=`# Qwen Code

## Set and run

\`\`\`sh
export OPENAI_BASE_URL=http://127.0.0.1:8080/beta/v1
export OPENAI_API_KEY=cr_…
export OPENAI_MODEL=chat-1
qwen --auth-type openai "Say good morning."
\`\`\`

## Know

- It waits 120 s for the head of an answer, then leaves and asks again: a model that thinks longer never answers.
  \`stream_keepalive\` of the gateway, such as \`60s\`, helps, as does
  \`"model": { "generationConfig": { "timeout": 600000 } }\` in \`~/.qwen/settings.json\`.
- After an answer Qwen Code makes one more request, for its memory.
  \`"memory": { "enableManagedAutoMemory": false }\` in \`~/.qwen/settings.json\` stops that.
- At a limit in USD it prints the message of the gateway at once; at requests per minute it waits and asks again.
- \`"privacy": { "usageStatisticsEnabled": false }\` in the same file stops its statistics.

Tested with \`@qwen-code/qwen-code\` 0.24.4: it reads a file, edits it and runs a command, streamed.
`;function Cn(e,t,n){return n===`messages`?`${e}/${t}`:`${e}/${t}/v1`}var wn=`cr_…`,Tn=e=>({title:x(`account.parts.terminal`),text:e}),En=e=>t=>[Tn(`export GATEWAY_KEY=${wn}
curl ${t.origin}/${t.vendor}/v1/${e} \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${t.model}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`)],Q=({install:e,runs:t,text:n})=>r=>[{title:x(`account.parts.install`),text:e},{title:t.replace(/.* /,``),text:n(r)},{title:x(`account.parts.run`),text:`GATEWAY_KEY=${wn} ${t}`}];function $(e,t){let[,n=e]=/^# (.+)$/m.exec(t)??[],[,r=``]=/^Put this into `(.+?)`/m.exec(t)??[],i=[...t.matchAll(/^```(\w+)\n(.*?)\n```$/gms)];return{id:e,name:n,format:t.includes(`/alpha`)?`messages`:`chat`,parts:e=>i.map(([,t,n=``])=>({title:t===`sh`?x(`account.parts.terminal`):r,text:Dn(e,n)}))}}function Dn({origin:e,vendor:t,model:n,smallModel:r},i){return i.replaceAll(/http:\/\/127\.0\.0\.1:8080\/\w+/g,()=>`${e}/${t}`).replaceAll(/\b(large|chat)-1\b/g,()=>n).replaceAll(/\b(small|chat-mini)-1\b/g,()=>r).replaceAll(/^(.+),\n\1$/gm,`$1`)}var On=[{id:`curl-messages`,name:`curl, messages`,format:`messages`,parts:En(`messages`)},{id:`curl-chat`,name:`curl, chat completions`,format:`chat`,parts:En(`chat/completions`)},{id:`anthropic-python`,name:`Anthropic SDK, Python`,format:`messages`,parts:Q({install:`pip install anthropic`,runs:`python ask.py`,text:({origin:e,vendor:t,model:n})=>`import os

import anthropic

client = anthropic.Anthropic(base_url="${e}/${t}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(message.content[0].text)`})},{id:`anthropic-typescript`,name:`Anthropic SDK, TypeScript`,format:`messages`,parts:Q({install:`npm install @anthropic-ai/sdk`,runs:`node ask.mts`,text:({origin:e,vendor:t,model:n})=>`import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${e}/${t}',
  apiKey: process.env['GATEWAY_KEY'],
})
const message = await client.messages.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`})},{id:`openai-python`,name:`OpenAI SDK, Python`,format:`chat`,parts:Q({install:`pip install openai`,runs:`python ask.py`,text:({origin:e,vendor:t,model:n})=>`import os

import openai

client = openai.OpenAI(base_url="${e}/${t}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(completion.choices[0].message.content)`})},{id:`openai-typescript`,name:`OpenAI SDK, TypeScript`,format:`chat`,parts:Q({install:`npm install openai`,runs:`node ask.mts`,text:({origin:e,vendor:t,model:n})=>`import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${e}/${t}/v1',
  apiKey: process.env['GATEWAY_KEY'],
})
const completion = await client.chat.completions.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
console.log(completion.choices[0]?.message.content)`})},$(`claude-code`,gn),$(`codex`,vn),$(`opencode`,xn),$(`cline`,_n),$(`continue`,yn),$(`qwen-code`,Sn),$(`aider`,hn),$(`open-webui`,bn)];function kn(){return(0,B.jsx)(m,{query:w(F),children:({prices:e})=>e.length===0?(0,B.jsx)(l,{title:x(`account.noModels`),children:x(`account.askWhen`)}):(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(jn,{prices:e}),(0,B.jsx)(Mn,{prices:e})]})})}function An(e){return e===`messages`||e===`chat`?x(`account.formats.${e}`):e}function jn({prices:e}){let t=new Map(e.map(({vendor:e,format:t})=>[e,t]));return(0,B.jsx)(r,{title:x(`account.baseAddresses`),hint:x(`account.baseHint`),children:(0,B.jsx)(h,{as:`ul`,children:[...t].map(([e,t])=>{let n=Cn(location.origin,e,t);return(0,B.jsxs)(`li`,{className:`row row-between`,children:[(0,B.jsxs)(`div`,{children:[(0,B.jsx)(`code`,{className:`break`,children:n}),(0,B.jsx)(`div`,{className:`soft small`,children:An(t)})]}),(0,B.jsx)(xe,{text:n})]},e)})})})}function Mn({prices:e}){let t=R(),[n,i]=(0,W.useState)(``),a=On.filter(({format:t})=>Nn(t,e).length>0),o=a.find(({id:e})=>e===t.client)??a[0];if(o===void 0)return(0,B.jsx)(l,{title:x(`account.noTextModel`)});let s=Nn(o.format,e),c=s.find(e=>e.model===n)??s[0];if(c===void 0)return null;let u={origin:location.origin,vendor:c.vendor,model:c.model,smallModel:Pn(c,s)};return(0,B.jsx)(r,{title:x(`account.setUpClient`),children:(0,B.jsxs)(h,{children:[(0,B.jsxs)(`div`,{className:`row row-end filters`,children:[(0,B.jsx)(ne,{label:x(`account.client`),value:o.id,options:a.map(({id:e,name:t})=>[e,t]),onChange:e=>M({view:`setup`,client:e},{replaces:!0})}),(0,B.jsx)(ne,{label:x(`account.model`),value:c.model,options:s.map(e=>[e.model,e.model]),onChange:i})]}),(0,B.jsx)(p,{children:x.rich(`account.putKey`,{code:e=>(0,B.jsx)(`code`,{children:e}),link:e=>(0,B.jsx)(A,{to:{view:`keys`},children:e})})}),o.parts(u).map(({title:e,text:t})=>(0,B.jsxs)(h,{as:`section`,isTight:!0,"aria-label":e,children:[(0,B.jsx)(`h3`,{children:e}),(0,B.jsx)(De,{text:t,label:`${o.name}: ${e}`})]},e)),o.id===`codex`&&(0,B.jsx)(`p`,{className:`soft`,children:x(`account.codexHint`)})]})})}function Nn(e,t){return t.filter(t=>t.format===e&&G(t.price,`output`)!==void 0)}function Pn(e,t){let n=({price:e})=>Number(G(e,`output`)??0),[r=e]=t.filter(({vendor:t})=>t===e.vendor).toSorted((e,t)=>n(e)-n(t));return r.model}function Fn({files:e}){let[t,r]=(0,W.useState)(0),i=(0,W.useRef)(void 0);(0,W.useEffect)(()=>()=>i.current?.abort(),[]);let a=_e({async mutationFn({name:e,path:t,query:n}){let a=new AbortController;i.current=a,r(0);try{return await Rn(await Ve(t,n,a),e,r),x(`account.savedAs`,{name:e})}catch(e){if(a.signal.aborted)return``;throw e}}}),s=t===0?x(`account.reading`):x(`account.bytesRead`,{size:(t/1e6).toFixed(1)});return(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(`span`,{role:`status`,className:`soft`,children:a.isPending?s:a.data}),a.isPending&&(0,B.jsx)(n,{onClick:()=>i.current?.abort(),children:x(`account.stop`)}),a.error!==null&&(0,B.jsxs)(p,{tone:`bad`,children:[ae(a.error).title,` `,x(`account.nothingSaved`)]}),!a.isPending&&e.map(e=>(0,B.jsxs)(n,{onClick:()=>a.mutate(e),children:[(0,B.jsx)(o,{"aria-hidden":!0}),` `,e.label]},e.label))]})}function In(e){return e.replace(/[^A-Za-z0-9_-]+/g,`-`).slice(0,60)}var Ln=4194304;async function Rn(e,t,n){let r=e.headers.get(`content-type`)??`application/octet-stream`,i=new Blob(await zn(e,n),{type:r}),a=URL.createObjectURL(i),o=document.createElement(`a`);o.href=a,o.download=t,o.click(),URL.revokeObjectURL(a)}async function zn(e,t){let n=e.body?.getReader(),r=[],i=[],a=0,o=0;for(let e=await Bn(n);e!==void 0;e=await Bn(n))i.push(e),a+=e.length,o+=e.length,a<Ln||(r.push(new Blob(i)),i=[],a=0,t(o));return[...r,new Blob(i)]}async function Bn(e){try{return(await e?.read())?.value}catch(e){throw e instanceof DOMException&&e.name===`AbortError`?e:new te(0,{detail:x(`account.brokenOff`)})}}var Vn=12,Hn=1e3,Un=O({name:`account-page-proofs`,caption:x(`account.proofs`),rowKey:({count:e})=>String(e),columns:[{id:`hour`,name:x(`account.sealedUntil`),place:`name`,cell:({hour:e})=>(0,B.jsx)(g,{at:e})},{id:`lines`,name:x(`account.lines`),isNumber:!0,cell:({count:e})=>(0,B.jsx)(a,{value:e})},{id:`sum`,name:x(`account.sum`),isNumber:!0,place:`amount`,cell:({sum:e})=>(0,B.jsx)(_,{value:e})},{id:`hash`,name:x(`account.hash`),place:`note`,cell:({hash:e})=>(0,B.jsx)(`code`,{"data-tip":e,children:e.slice(0,Vn)})},{id:`key`,name:x(`account.signedBy`),cell:({key:e})=>(0,B.jsx)(`code`,{children:e})}],empty:(0,B.jsx)(l,{title:x(`account.noProof`),children:x(`account.noProofHint`)})});function Wn(){let{data:e}=Qe(),t={label:x(`account.saveProofs`),name:`proofs-${In(e?.name??``)}.json`,path:`/proofs`,query:{limit:Hn}};return(0,B.jsx)(E,{of:Un,title:x(`account.proofs`),hint:x(`account.proofsHint`),list:$e(),actions:(0,B.jsx)(Fn,{files:[t]})})}var Gn=Le({name:`account-page-statement`,caption:x(`account.tabs.statement`),requestLink:(e,t=e)=>(0,B.jsx)(A,{to:{view:`requests`,request:e},children:t})});function Kn(){let e=R(),{period:t,picker:n}=rt({value:e,usual:`thisMonth`,quick:[`thisMonth`,`lastMonth`],onChange:t=>M({...e,...t},{replaces:!0})}),i=w({...Xe(t),placeholderData:ce}),{data:a}=Qe(),o=qt();return(0,B.jsxs)(B.Fragment,{children:[n,(0,B.jsxs)(r,{title:x(`account.statementOf`,t),actions:(0,B.jsx)(Jt,{}),children:[(0,B.jsx)(Kt,{account:a}),o!==void 0&&(0,B.jsx)(`p`,{children:x(`account.creditsInclude`,{tax:o})})]}),(0,B.jsx)(m,{query:i,children:({figures:e,entries:n})=>(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(Oe,{of:{...e,from:`${t.from}T00:00:00Z`,opening:e.opening_balance,closing:e.closing_balance}}),(0,B.jsx)(E,{of:Gn,title:x(`account.tabs.statement`),hint:x(`account.lastLines`),list:{rows:n},actions:(0,B.jsx)(Fn,{files:qn(t,a?.name)})}),(0,B.jsx)(Wn,{})]})})]})}function qn(e,t=``){return[`csv`,`json`].map(n=>({label:n.toUpperCase(),name:`statement-${In(t)}-${e.from}-${e.to}.${n}`,path:`/statement`,query:{...e,format:n}}))}var Jn={code:S(x(`members.code`),{isRequired:!0,input:{placeholder:`tc_…`}})},Yn=e=>ge(x(`figures.amount`),{isRequired:!0,hint:e}),Xn=I({amount_usd:L,balance_usd:L,repeated:Ze});function Zn(){let{paid:e}=R(),{data:t}=w(P),n=t?.payments??null;return(0,B.jsxs)(B.Fragment,{children:[e!==void 0&&(0,B.jsx)($n,{}),(0,B.jsxs)(i,{children:[(0,B.jsx)(r,{title:x(`members.redeem`),hint:x(`members.redeemHint`),children:(0,B.jsx)(f,{fields:Jn,action:x(`members.redeem`),send:({draft:e})=>j(`POST /codes`,Xn,e),toast:({amount_usd:e,balance_usd:t,repeated:n})=>x(n?`members.redeemedBefore`:`members.redeemed`,{amount:y(e),balance:y(t)})})}),n!==null&&(0,B.jsx)(r,{title:x(`members.pay`),hint:x(`members.payHint`),children:(0,B.jsx)(f,{fields:{amount_usd:Yn(x(`members.amountHint`,n))},action:x(`members.goToPay`),send:async({draft:e})=>{let{url:t}=await j(`POST /checkout`,I({url:L}),e);location.assign(t)}})})]})]})}var Qn=3e3;function $n(){let{data:e}=w({...ze,refetchInterval:Qn});return(0,B.jsx)(p,{children:x.rich(`members.waiting`,{balance:()=>(0,B.jsx)(_,{value:e?.balance??null})})})}export{_t as Activity,xt as Details,It as Keys,dt as People,Lt as Prices,Wt as Receipts,rn as Requests,kn as Setup,Kn as Statement,Zn as TopUp};