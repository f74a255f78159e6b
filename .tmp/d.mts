import Database from 'libsql'
import { rmSync } from 'node:fs'
rmSync('/tmp/dd.db',{force:true})
const a=new Database('/tmp/dd.db'), b=new Database('/tmp/dd.db')
const run=(d:any,s:string,...v:any[])=>{ try { if(/^(BEGIN|COMMIT|ROLLBACK)/.test(s)) return d.exec(s); const st=d.prepare(s); return st.reader!==false? st.all(...v): st.run(...v) } catch(e:any){ return e.code+' '+e.message } }
console.log(run(a,'create table t(x)'), run(a,'insert into t values (1)'))
console.log('b read', run(b,'select * from t'))
console.log('a begin', run(a,'BEGIN IMMEDIATE'), a.inTransaction)
let t=Date.now(); console.log('b begin', run(b,'BEGIN IMMEDIATE'), Date.now()-t)
console.log('a ins', run(a,'insert into t values (2)'))
console.log('a commit', run(a,'COMMIT'))
t=Date.now(); console.log('b begin', run(b,'BEGIN IMMEDIATE'), Date.now()-t)
console.log('b commit', run(b,'COMMIT'))
console.log('a failing', run(a,'BEGIN IMMEDIATE'), run(a,'selec'), run(a, 'ROLLBACK'), run(b,'BEGIN IMMEDIATE'), run(b,'ROLLBACK'))
console.log(run(a,'pragma busy_timeout'))
