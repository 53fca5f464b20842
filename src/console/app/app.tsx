import { useSignal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type PageEntry, pages } from '../pages/index.ts';
import { go, href, ownAddress, place } from '../state/address.ts';
import { again, answers, useAnswer } from '../state/answers.ts';
import { useKeys } from '../state/keys.ts';
import { goLive, mayListen } from '../state/live.ts';
import { may, me, refusedAt, signedIn, tokenEnds } from '../state/session.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { shownTime } from '../ui/value.tsx';
import { KeyHelp } from './key-help.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { ShownPage } from './shown-page.tsx';
import { SignIn } from './sign-in.tsx';
import { StatusLine } from './status-line.tsx';
import './app.css';

/** Pages that show what is public, to anybody. */
const publicPages: readonly string[] = ['docs', 'transparency'];

/** Signed in, or about to: everything else needs to know who asks. */
export function App() {
  const { page } = place.value;
  const inside = signedIn.value;
  useEffect(() => {
    // Asked now: the render that this belongs to may be of a page that was left since.
    const { page: shown, params } = place.peek();
    if (inside && shown === 'sign-in') go(ownAddress(params.get('to')), { replace: true });
    if (!inside) {
      me.value = undefined;
      answers.clear();
    }
  }, [inside, page]);
  if (!inside && !publicPages.includes(page)) return <SignIn />;
  if (page === 'sign-in') return null;
  return <Frame />;
}

function Frame() {
  const helping = useSignal(false);
  const finding = useSignal(false);
  const inside = signedIn.value;
  const who = useAnswer('whoAmI', {}, { enabled: inside });
  useEffect(() => {
    if (who.data === undefined) return;
    const { id, attributes } = who.data.data;
    const { name, roles, operations } = attributes;
    me.value = { id, name, roles, operations: new Set(operations) };
  }, [who.data?.data]);
  useEffect(() => {
    // What one may do is asked for anew with each session, and where something was refused; the first time it is on its way.
    if (me.peek() !== undefined) void again(['whoAmI']);
  }, [tokenEnds.value, refusedAt.value]);
  const listens = inside && mayListen.value;
  useEffect(() => (listens ? goLive() : undefined), [listens]);
  const entry = pages.find(({ name }) => name === place.value.page) ?? pages[0]!;
  const known = !inside || me.value !== undefined;
  const isRefused = inside && known && !may(entry.needs);
  // The overview is where everybody begins: who may not see it begins with the first page that is theirs.
  const instead = isRefused && entry.name === 'overview' ? ownPages()[0]?.name : undefined;
  useEffect(() => {
    if (instead !== undefined) go(href(instead), { replace: true });
  }, [instead]);
  useKeys('Everywhere', {
    '?': { title: 'Show what keys do', run: () => (helping.value = true) },
    'ctrl k': {
      title: 'Find any address, name, rule or page',
      run: () => (finding.value = true),
      whileTyping: true,
    },
    ...Object.fromEntries(
      pages.map(({ key, name, title }) => [
        `g ${key}`,
        { title: `Go to ${title}`, run: () => go(href(name, shownTime())) },
      ]),
    ),
  });
  // Which pages there are for who is signed in is known only then.
  if (!known)
    return who.error === null ? (
      <Loading />
    ) : (
      <Failure error={who.error} onRetry={() => void who.refetch()} />
    );
  if (instead !== undefined) return <Loading />;
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Rail onFind={() => (finding.value = true)} onHelp={() => (helping.value = true)} />
      {isRefused ? <NotTheirs entry={entry} /> : <Shown key={entry.name} entry={entry} />}
      <StatusLine />
      <Toasts />
      {helping.value && <KeyHelp onClose={() => (helping.value = false)} />}
      {finding.value && <Palette onClose={() => (finding.value = false)} />}
    </div>
  );
}

/** Pages that who is signed in may see, in the order of the rail. */
const ownPages = (): readonly PageEntry[] => pages.filter(({ needs }) => may(needs));

/** A page that is for other roles: whose it is not, and which ones are. */
function NotTheirs({ entry }: { entry: PageEntry }) {
  return (
    <main class="page" id="main">
      <h1 class="unseen">{entry.title}</h1>
      <Empty title={`${entry.title} is not for your role`}>
        <p>
          {me.value?.name} has {me.value?.roles.join(', ') || 'no role'}. These pages are yours:
        </p>
        <ul class="row">
          {ownPages().map(({ name, title }) => (
            <li key={name}>
              <a href={href(name)}>{title}</a>
            </li>
          ))}
        </ul>
      </Empty>
    </main>
  );
}

function Shown({ entry }: { entry: PageEntry }) {
  return (
    <Guarded>
      <ShownPage entry={entry} />
    </Guarded>
  );
}

/** A page that fails takes nothing else along: the frame stays, and says so. */
class Guarded extends Component<{ children: ComponentChildren }, { error?: Error }> {
  override componentDidCatch(error: Error): void {
    // For who looks into it: the browser's own list of errors has the stack.
    reportError(error);
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main class="page" id="main">
        <h1 class="unseen">Error</h1>
        <Failure error={error} onRetry={() => location.reload()} />
      </main>
    );
  }
}
