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

/** Pages that are visible without signing in. */
const publicPages: readonly string[] = ['docs', 'transparency'];

/**
 * Shows the sign-in form, or the frame with a page: for signed-in users, and for visitors of public pages.
 */
export function App() {
  const { page } = place.value;
  const inside = signedIn.value;
  useEffect(() => {
    // Read the place again: this effect may run after the user has navigated on.
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
    // Permissions are fetched again with each session and after a refusal. The first request is already on
    // its way.
    if (me.peek() !== undefined) void again(['whoAmI']);
  }, [tokenEnds.value, refusedAt.value]);
  const listens = inside && mayListen.value;
  useEffect(() => (listens ? goLive() : undefined), [listens]);
  const entry = pages.find(({ name }) => name === place.value.page) ?? pages[0]!;
  const known = !inside || me.value !== undefined;
  const isRefused = inside && known && !may(entry.needs);
  // Users without access to the overview start on the first page that they may see.
  const instead = isRefused && entry.name === 'overview' ? ownPages()[0]?.name : undefined;
  useEffect(() => {
    if (instead !== undefined) go(href(instead), { replace: true });
  }, [instead]);
  useKeys('Global', {
    '?': { title: 'Keyboard shortcuts', run: () => (helping.value = true) },
    'ctrl k': {
      title: 'Search addresses, names, rules and pages',
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
  // The pages of a signed-in user are known only after whoAmI has answered.
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
        Skip to content
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

/** Pages that the signed-in user may see, in the order of the rail. */
const ownPages = (): readonly PageEntry[] => pages.filter(({ needs }) => may(needs));

/** Shown in place of a page that the user's roles do not include, with links to those that they do. */
function NotTheirs({ entry }: { entry: PageEntry }) {
  return (
    <main class="page" id="main">
      <h1 class="unseen">{entry.title}</h1>
      <Empty title={`${entry.title} is not available to your role`}>
        <p>
          {me.value?.name} has {me.value?.roles.join(', ') || 'no role'}. You can open:
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

/** Error boundary of a page: the frame stays usable when the page throws. */
class Guarded extends Component<{ children: ComponentChildren }, { error?: Error }> {
  override componentDidCatch(error: Error): void {
    // Puts the stack into the browser's console.
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
