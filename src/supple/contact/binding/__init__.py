"""What a contact on the slots of a scene is made of: tables of pairs, contacts of surfaces, what is remembered."""
