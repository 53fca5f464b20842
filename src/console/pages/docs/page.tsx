import { Page } from '../../ui/page.tsx';

export default function Shown() {
  return <Page title="docs">{null}</Page>;
}
