/** The process of one engine: opens it, executes the parent's calls, and times each of them. */
import type { Engine, EngineModule, EngineOptions } from './engine.ts';
import type { Call, Reply } from './in-process.ts';

const [module = '', options = '{}'] = process.argv.slice(2);
const send = (reply: Reply, sent = () => {}) => process.send?.(reply, undefined, undefined, sent);

try {
  const { open } = (await import(module)) as EngineModule;
  const engine = await open(JSON.parse(options) as EngineOptions);
  process.on('message', async (call: Call) => {
    const began = performance.now();
    try {
      const value = await done(engine, call);
      send({ ms: performance.now() - began, value });
    } catch (error) {
      send({ error: String(error) });
    }
    // A native engine's threads do not end when it is closed.
    if (call.method === 'close') process.exit(0);
  });
  // Exit, because the parent process has ended.
  process.on('disconnect', () => process.exit(1));
  send({ ms: 0, value: engine.version });
} catch (error) {
  send({ error: String(error) }, () => process.exit(1));
}

function done(engine: Engine, call: Call): Promise<unknown> {
  switch (call.method) {
    case 'load':
      return engine.load(call.files);
    case 'ask':
      return engine.ask(call.question);
    default:
      return engine[call.method]();
  }
}
