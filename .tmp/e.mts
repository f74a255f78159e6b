import { createClient } from '@libsql/client'
import { rmSync } from 'node:fs'
rmSync('/tmp/ee.db',{force:true})
const a=createClient({url:'file:/tmp/ee.db'}), b=createClient({url:'file:/tmp/ee.db'})
await a.execute('create table t(x)')
const ta=await a.transaction('write')
let tb; try { tb=await b.transaction('write') } catch(e:any){ console.log('b tx', e.code, e.message) }
await ta.execute('insert into t values (1)')
try { await ta.commit(); console.log('ok') } catch(e:any){ console.log('commit', e.code, e.message) }
console.log(await b.execute('select * from t').then(r=>r.rows, e=>e.code+e.message))
try { tb=await b.transaction('write'); await tb.execute('insert into t values (2)'); await tb.commit(); console.log('ok b') } catch(e:any){ console.log('b tx', e.code, e.message) }
