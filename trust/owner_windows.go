package trust

func (o *Owners) check(Owner, string) *Problem { return nil }

func (o *Owners) checkTree(Owner, string) *Problem { return nil }
